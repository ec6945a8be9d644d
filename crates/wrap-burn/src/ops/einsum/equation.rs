//! Reading the equation.

use crate::{Result, bail};

/// A subscript: a letter, or a dimension an ellipsis stands for, counted from the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// A letter.
    Letter(char),
    /// A dimension of the ellipsis.
    Ellipsis(usize),
}

/// How messages show a label.
pub(super) fn shown(label: Label) -> String {
    match label {
        Label::Letter(letter) => letter.to_string(),
        Label::Ellipsis(_) => "...".to_string(),
    }
}

/// Every operand's labels, and the result's.
#[derive(Debug)]
pub(super) struct Equation {
    pub(super) inputs: Vec<Vec<Label>>,
    pub(super) output: Vec<Label>,
}

/// One token of a list of subscripts.
enum Token {
    Letter(char),
    Ellipsis,
}

/// Splits a list of subscripts; `place` is what it belongs to in messages.
fn tokens(text: &str, place: &str) -> Result<Vec<Token>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            if out.iter().any(|token| matches!(token, Token::Ellipsis)) {
                bail!(
                    Runtime,
                    "einsum(): found '.' for {place} for which an ellipsis was already found"
                );
            }
            out.push(Token::Ellipsis);
            rest = after;
            continue;
        }
        match next {
            letter if letter.is_ascii_alphabetic() => out.push(Token::Letter(letter)),
            space if space.is_whitespace() => {}
            '.' => {
                bail!(Runtime, "einsum(): found '.' for {place} that is not part of any ellipsis")
            }
            other => bail!(
                Runtime,
                "einsum(): invalid subscript '{other}' for {place}, subscripts must be in [a-zA-Z]"
            ),
        }
        rest = &rest[next.len_utf8()..];
    }
    Ok(out)
}

impl Equation {
    /// Reads an equation for operands of the given ranks.
    pub(super) fn parse(text: &str, ranks: &[usize]) -> Result<Equation> {
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text, None),
        };
        let lists: Vec<&str> = left.split(',').collect();
        if lists.len() > ranks.len() {
            bail!(Runtime, "einsum(): fewer operands were provided than specified in the equation");
        }
        if lists.len() < ranks.len() {
            bail!(Runtime, "einsum(): more operands were provided than specified in the equation");
        }
        let mut inputs = Vec::with_capacity(ranks.len());
        let (mut widest, mut any_ellipsis) = (0, false);
        for (at, (list, &rank)) in lists.iter().zip(ranks).enumerate() {
            let tokens = tokens(list, &format!("operand {at}"))?;
            let ellipsis = tokens.iter().any(|token| matches!(token, Token::Ellipsis));
            let letters = tokens.len() - ellipsis as usize;
            if ellipsis && letters > rank {
                bail!(
                    Runtime,
                    "einsum(): the number of subscripts in the equation ({letters}) is more than the \
                     number of dimensions ({rank}) for operand {at}"
                );
            }
            if !ellipsis && letters != rank {
                bail!(
                    Runtime,
                    "einsum(): the number of subscripts in the equation ({letters}) does not match the \
                     number of dimensions ({rank}) for operand {at} and no ellipsis was given"
                );
            }
            any_ellipsis |= ellipsis;
            if ellipsis {
                widest = widest.max(rank - letters);
            }
            inputs.push(expanded(&tokens, rank - letters));
        }
        let output = match right {
            Some(right) => explicit(right, widest, any_ellipsis, &inputs)?,
            None => implicit(widest, &inputs),
        };
        Ok(Equation { inputs, output })
    }
}

/// Labels with the ellipsis' dimensions put in.
fn expanded(tokens: &[Token], hidden: usize) -> Vec<Label> {
    tokens
        .iter()
        .flat_map(|token| match *token {
            Token::Letter(letter) => vec![Label::Letter(letter)],
            Token::Ellipsis => (0..hidden).rev().map(Label::Ellipsis).collect(),
        })
        .collect()
}

fn explicit(
    right: &str,
    widest: usize,
    any_ellipsis: bool,
    inputs: &[Vec<Label>],
) -> Result<Vec<Label>> {
    let tokens = tokens(right, "output")?;
    if !any_ellipsis && tokens.iter().any(|token| matches!(token, Token::Ellipsis)) {
        // Nothing stands behind it, which is allowed.
        return explicit(&right.replacen("...", "", 1), widest, any_ellipsis, inputs);
    }
    let output = expanded(&tokens, widest);
    for (at, label) in output.iter().enumerate() {
        if output[..at].contains(label) {
            bail!(
                Runtime,
                "einsum(): output subscript {} appears more than once in the output",
                shown(*label)
            );
        }
        let known = inputs.iter().any(|labels| labels.contains(label));
        if !known {
            bail!(
                Runtime,
                "einsum(): output subscript {} does not appear in the equation for any input operand",
                shown(*label)
            );
        }
    }
    Ok(output)
}

/// Without an arrow: the ellipsis, then the letters that appear once, in alphabetical order.
fn implicit(widest: usize, inputs: &[Vec<Label>]) -> Vec<Label> {
    let mut once: Vec<char> = Vec::new();
    let all: Vec<char> = inputs
        .iter()
        .flatten()
        .filter_map(|label| match label {
            Label::Letter(letter) => Some(*letter),
            Label::Ellipsis(_) => None,
        })
        .collect();
    for &letter in &all {
        if all.iter().filter(|&&other| other == letter).count() == 1 {
            once.push(letter);
        }
    }
    once.sort_unstable();
    let ellipsis = (0..widest).rev().map(Label::Ellipsis);
    ellipsis.chain(once.into_iter().map(Label::Letter)).collect()
}

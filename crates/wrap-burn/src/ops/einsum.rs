//! Sums of products named by subscripts, and the products of vectors and matrices.

mod equation;
pub mod products;

use kernels::Dims;

use crate::tensor::Tensor;
use crate::{Result, bail};
use equation::{Equation, Label};

/// An operand whose dimensions have labels, no label twice. Dimensions of size one are left out:
/// they broadcast.
struct Term {
    tensor: Tensor,
    labels: Vec<Label>,
}

impl Term {
    /// Names an operand's dimensions, with diagonals taken of repeated labels.
    fn new(equation: &Equation, at: usize, operand: &Tensor) -> Result<Term> {
        let mut tensor = operand.clone();
        let mut labels = equation.inputs[at].clone();
        while let Some((first, second)) = repeated(&labels) {
            let shape = tensor.shape();
            if shape[first] != shape[second] {
                bail!(
                    Runtime,
                    "einsum(): subscript {} is repeated for operand {at} but the sizes don't match, {} != {}",
                    equation::shown(labels[first]),
                    shape[second],
                    shape[first]
                );
            }
            let label = labels[first];
            tensor = tensor.diagonal(0, first as i64, second as i64)?;
            labels.remove(second);
            labels.remove(first);
            labels.push(label);
        }
        let shape = tensor.shape();
        let single: Vec<i64> =
            (0..shape.len()).filter(|&d| shape[d] == 1).map(|d| d as i64).collect();
        if !single.is_empty() {
            tensor = tensor.squeeze(Some(&single))?;
            let mut sizes = shape.iter();
            labels.retain(|_| sizes.next() != Some(&1));
        }
        Ok(Term { tensor, labels })
    }

    /// Sums over the labels that nobody else wants.
    fn summed(self, wanted: &dyn Fn(Label) -> bool) -> Result<Term> {
        let dims: Dims = (0..self.labels.len()).filter(|&d| !wanted(self.labels[d])).collect();
        if dims.is_empty() {
            return Ok(self);
        }
        let tensor = self.tensor.sum_dims(&dims, false)?;
        let labels = self.labels.into_iter().filter(|&label| wanted(label)).collect();
        Ok(Term { tensor, labels })
    }

    /// Dimensions in the order of the given labels, one for each group of them.
    fn grouped(&self, groups: [&[Label]; 3]) -> Result<Tensor> {
        let order: Vec<i64> = groups
            .iter()
            .flat_map(|group| group.iter())
            .filter_map(|label| self.labels.iter().position(|own| own == label))
            .map(|d| d as i64)
            .collect();
        let moved = self.tensor.permute(&order)?;
        let shape = moved.shape();
        let mut sizes = shape.iter();
        let merged = groups.map(|group| sizes.by_ref().take(group.len()).product::<usize>());
        moved.reshape_to(&merged)
    }

    fn size(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|&own| own == label).map(|d| self.tensor.shape()[d])
    }
}

fn repeated(labels: &[Label]) -> Option<(usize, usize)> {
    (0..labels.len()).find_map(|second| {
        labels[..second]
            .iter()
            .position(|&label| label == labels[second])
            .map(|first| (first, second))
    })
}

/// The product of two operands, summed over the labels nobody else wants: one matrix product, or a
/// plain product where nothing is summed.
fn contracted(a: &Term, b: &Term, wanted: &dyn Fn(Label) -> bool) -> Result<Term> {
    let shared = |label: &&Label| b.labels.contains(label);
    let batch: Vec<Label> =
        a.labels.iter().filter(shared).filter(|&&l| wanted(l)).copied().collect();
    let inner: Vec<Label> =
        a.labels.iter().filter(shared).filter(|&&l| !wanted(l)).copied().collect();
    let left: Vec<Label> = a.labels.iter().filter(|label| !shared(label)).copied().collect();
    let right: Vec<Label> =
        b.labels.iter().filter(|label| !a.labels.contains(label)).copied().collect();
    let labels: Vec<Label> = batch.iter().chain(&left).chain(&right).copied().collect();
    let shape: Dims =
        labels.iter().map(|&label| a.size(label).or(b.size(label)).unwrap_or(1)).collect();
    let product = if inner.is_empty() {
        let (a, b) = (a.grouped([&batch, &left, &[]])?, b.grouped([&batch, &[], &right])?);
        a.mul(&b)?
    } else {
        let (a, b) = (a.grouped([&batch, &left, &inner])?, b.grouped([&batch, &inner, &right])?);
        if batch.is_empty() {
            a.squeeze(Some(&[0]))?.matmul(&b.squeeze(Some(&[0]))?)?
        } else {
            a.matmul(&b)?
        }
    };
    Ok(Term { tensor: product.reshape_to(&shape)?, labels })
}

/// Which two operands give the smallest product, of those whose product is smaller than they are
/// together; the first two otherwise.
fn best_pair(terms: &[Term], output: &[Label]) -> (usize, usize) {
    if terms.len() == 2 {
        return (0, 1);
    }
    let count = |term: &Term| term.tensor.numel() as i128;
    let mut best = (i128::MAX, (0, 1));
    for first in 0..terms.len() {
        for second in first + 1..terms.len() {
            let stays = |label: &Label| {
                output.contains(label)
                    || terms.iter().enumerate().any(|(at, term)| {
                        at != first && at != second && term.labels.contains(label)
                    })
            };
            let (a, b) = (&terms[first], &terms[second]);
            let new = b.labels.iter().filter(|label| !a.labels.contains(label));
            let size: i128 = a
                .labels
                .iter()
                .chain(new)
                .filter(|label| stays(label))
                .map(|&label| a.size(label).or(b.size(label)).unwrap_or(1) as i128)
                .product();
            let growth = size - count(a) - count(b);
            if growth < best.0 {
                best = (growth, (first, second));
            }
        }
    }
    best.1
}

/// Refuses sizes that do not fit each other; the size of every label otherwise.
fn label_sizes(equation: &Equation, operands: &[Tensor]) -> Result<Vec<(Label, usize)>> {
    let mut sizes: Vec<(Label, usize)> = Vec::new();
    for (labels, operand) in equation.inputs.iter().zip(operands) {
        for (&label, &size) in labels.iter().zip(&operand.shape()) {
            match sizes.iter_mut().find(|(known, _)| *known == label) {
                None => sizes.push((label, size)),
                Some((_, known)) if *known == size || size == 1 => {}
                Some((_, known)) if *known == 1 => *known = size,
                Some((_, known)) => {
                    let shapes: Vec<_> = operands.iter().map(|operand| operand.shape()).collect();
                    bail!(
                        Runtime,
                        "einsum(): operands do not broadcast: subscript {} has sizes {known} and {size}, \
                         shapes {shapes:?}",
                        equation::shown(label)
                    );
                }
            }
        }
    }
    Ok(sizes)
}

impl Tensor {
    /// The sum of products that an equation such as `bij,bjk->bik` names.
    pub fn einsum(equation: &str, operands: &[Tensor]) -> Result<Tensor> {
        if operands.is_empty() {
            bail!(Runtime, "einsum(): must provide at least one operand");
        }
        let ranks: Vec<usize> = operands.iter().map(|operand| operand.rank()).collect();
        let equation = Equation::parse(equation, &ranks)?;
        let mut terms: Vec<Term> = operands
            .iter()
            .enumerate()
            .map(|(at, operand)| Term::new(&equation, at, operand))
            .collect::<Result<_>>()?;
        let sizes = label_sizes(&equation, operands)?;
        for at in 0..terms.len() {
            let wanted = |label: Label| {
                equation.output.contains(&label)
                    || terms
                        .iter()
                        .enumerate()
                        .any(|(other, term)| other != at && term.labels.contains(&label))
            };
            let term = Term { tensor: terms[at].tensor.clone(), labels: terms[at].labels.clone() };
            terms[at] = term.summed(&wanted)?;
        }
        while terms.len() > 1 {
            let (first, second) = best_pair(&terms, &equation.output);
            let b = terms.remove(second);
            let a = terms.remove(first);
            let wanted = |label: Label| {
                equation.output.contains(&label)
                    || terms.iter().any(|term| term.labels.contains(&label))
            };
            let product = contracted(&a, &b, &wanted)?;
            terms.insert(first, product);
        }
        let Some(Term { tensor, labels }) = terms.pop() else {
            bail!(Runtime, "einsum(): must provide at least one operand");
        };
        let order: Vec<i64> = equation
            .output
            .iter()
            .filter_map(|label| labels.iter().position(|own| own == label))
            .map(|d| d as i64)
            .collect();
        let shape: Dims = equation
            .output
            .iter()
            .map(|label| {
                sizes.iter().find(|(known, _)| known == label).map_or(1, |&(_, size)| size)
            })
            .collect();
        tensor.permute(&order)?.reshape_to(&shape)
    }
}

#[cfg(test)]
mod tests;

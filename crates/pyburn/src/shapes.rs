//! A refusal names the shapes of the tensors it is about, whatever the engine knew of them where it
//! was made.

use std::fmt::Write;

use wrap_burn::ops::binary::Operand;
use wrap_burn::{Error, ErrorKind, Tensor};

use crate::args::{Op, T};

/// The shapes of a call's tensors, in the order of its arguments, each once.
#[derive(Default)]
pub(crate) struct Shapes(Vec<String>);

impl Shapes {
    /// Adds a tensor's shape.
    pub(crate) fn see(mut self, tensor: &Tensor) -> Self {
        let shape = format!("{:?}", tensor.shape());
        if !self.0.contains(&shape) {
            self.0.push(shape);
        }
        self
    }

    /// The error, with the shapes at its end unless it names them all already.
    pub(crate) fn name(self, error: Error) -> Error {
        /// Beyond so many the list stops being of help.
        const MOST: usize = 16;
        let may_be_about_shapes =
            matches!(error.kind(), ErrorKind::Runtime | ErrorKind::Index | ErrorKind::Value);
        let text = error.message();
        if !may_be_about_shapes || self.0.iter().all(|shape| text.contains(shape)) {
            return error;
        }
        let mut list = String::new();
        for (at, shape) in self.0.iter().take(MOST).enumerate() {
            let between = match at {
                0 => "",
                at if at + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            // Writing to a string cannot fail.
            let _ = write!(list, "{between}{shape}");
        }
        let more = if self.0.len() > MOST { ", ..." } else { "" };
        let word = if self.0.len() == 1 { "shape" } else { "shapes" };
        Error::new(error.kind(), format!("{text} (got {word} {list}{more})"))
    }
}

/// An argument that holds tensors.
pub(crate) trait HasShapes {
    /// Adds their shapes.
    fn shapes(&self, found: Shapes) -> Shapes;
}

impl HasShapes for T {
    fn shapes(&self, found: Shapes) -> Shapes {
        found.see(&self.0)
    }
}

impl HasShapes for Op {
    fn shapes(&self, found: Shapes) -> Shapes {
        self.0.shapes(found)
    }
}

impl HasShapes for Operand {
    fn shapes(&self, found: Shapes) -> Shapes {
        match self {
            Operand::Tensor(tensor) => found.see(tensor),
            Operand::Scalar(_) => found,
        }
    }
}

impl<A: HasShapes> HasShapes for Option<A> {
    fn shapes(&self, found: Shapes) -> Shapes {
        self.iter().fold(found, |found, argument| argument.shapes(found))
    }
}

impl<A: HasShapes> HasShapes for Vec<A> {
    fn shapes(&self, found: Shapes) -> Shapes {
        self.iter().fold(found, |found, argument| argument.shapes(found))
    }
}

/// Any other argument. Written `(&argument).shapes(..)`, a call finds [`HasShapes`] first and this
/// after one more reference, so that macros need not know which of both an argument is.
pub(crate) trait NoShapes {
    /// Adds nothing.
    fn shapes(&self, found: Shapes) -> Shapes {
        found
    }
}

impl<A> NoShapes for &A {}

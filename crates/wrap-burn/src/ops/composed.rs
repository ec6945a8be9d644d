//! Gradients of fused ops by way of the tensor ops they stand for.

use crate::Result;
use crate::autograd::{self, ModeGuard, grad_enabled};
use crate::op::{Grads, Vjp};
use crate::ops::view::ViewOp;
use crate::tensor::Tensor;

/// The inputs' gradients by running `f`, the same op made of others, once more: where a gradient is
/// itself to be differentiated, which a fused gradient cannot be. `f` gives the first of the op's
/// outputs; the others must have no gradients.
pub(crate) fn vjp_composed(
    ctx: &Vjp<'_>,
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Grads> {
    let history = grad_enabled();
    let _recording = ModeGuard::grad(true);
    let mut wanted = Vec::new();
    let mut inputs = Vec::with_capacity(ctx.inputs.len());
    for (input, &needs) in ctx.inputs.iter().zip(ctx.needs) {
        // A view apart, so that a tensor that is given twice has a gradient in each place.
        let input = if needs && history {
            input.view_op(ViewOp::Reshape { shape: input.shape() })?
        } else {
            input.detach()
        };
        if needs {
            input.set_requires_grad(true)?;
            wanted.push(input.clone());
        }
        inputs.push(input);
    }
    let outputs = f(&inputs)?;
    let given = outputs.into_iter().zip(ctx.grads).filter(|(output, _)| output.requires_grad());
    let (roots, seeds): (Vec<Tensor>, Vec<Option<Tensor>>) =
        given.filter_map(|(output, grad)| Some((output, Some(grad.clone()?)))).unzip();
    let mut grads = autograd::grad(&roots, &wanted, &seeds, true, history)?.into_iter();
    Ok(ctx.needs.iter().map(|&needs| if needs { grads.next().flatten() } else { None }).collect())
}

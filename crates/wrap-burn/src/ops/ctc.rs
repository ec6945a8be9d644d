//! Losses of sequences: of frames that say classes or nothing, and of transducers.

use kernels::ctc::Labels;
use kernels::loss_rnnt::Transcripts;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::index::index_i64;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// How long the sequences of a batch are, and which class says nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lengths {
    /// How many frames each sample has.
    pub frames: Vec<usize>,
    /// How many labels each sample has.
    pub labels: Vec<usize>,
    /// The class that says nothing.
    pub blank: usize,
}

impl Lengths {
    /// Lengths as users give them, each at most what there is room for.
    fn checked(
        op: &str,
        frames: &[i64],
        labels: &[i64],
        blank: i64,
        (batch, steps, room, classes): (usize, usize, usize, usize),
    ) -> Result<Self> {
        if usize::try_from(blank).is_ok_and(|blank| blank >= classes) || blank < 0 {
            bail!(Runtime, "{op}: expected blank to be one of {classes} classes, got {blank}");
        }
        let all = |what: &str, lengths: &[i64], most: usize| -> Result<Vec<usize>> {
            if lengths.len() != batch {
                bail!(
                    Runtime,
                    "{op}: expected {batch} {what}, one for each sample, got {}",
                    lengths.len()
                );
            }
            let fit = |&length: &i64| usize::try_from(length).ok().filter(|&length| length <= most);
            lengths
                .iter()
                .map(|length| match fit(length) {
                    Some(length) => Ok(length),
                    None => bail!(Runtime, "{op}: expected {what} from 0 to {most}, got {length}"),
                })
                .collect()
        };
        Ok(Lengths {
            frames: all("input_lengths", frames, steps)?,
            labels: all("target_lengths", labels, room)?,
            blank: blank as usize,
        })
    }
}

/// Checks logarithms of probabilities and labels.
fn check(op: &str, log_probs: &Value, targets: &Value, rank: usize, shape: &str) -> Result<()> {
    if !log_probs.dtype.is_float() {
        bail!(Runtime, "{op}: not implemented for {}; hint: .float() first", log_probs.dtype);
    }
    if log_probs.rank() != rank {
        bail!(Runtime, "{op}: expected an input of shape {shape}, got {:?}", log_probs.shape);
    }
    if !matches!(targets.dtype, DType::I64 | DType::I32) {
        bail!(Runtime, "{op}: expected targets of dtype int64 or int32, got {}", targets.dtype);
    }
    Ok(())
}

/// Labels on the host, each of which must be a class.
fn labels_of(
    op: &str,
    targets: &Value,
    classes: usize,
    used: &[(usize, usize)],
) -> Result<Vec<i64>> {
    let host = index_i64(targets)?.contiguous()?;
    let labels = host.buffer()?.as_slice::<i64>()[host.offset..][..host.numel()].to_vec();
    for &(start, count) in used {
        let wrong =
            labels[start..][..count].iter().find(|label| !(0..classes as i64).contains(label));
        if let Some(wrong) = wrong {
            bail!(Runtime, "{op}: expected targets from 0 to {}, got {wrong}", classes as i64 - 1);
        }
    }
    Ok(labels)
}

/// Minus the logarithm of the probability that frames say labels, of each sample, and what the
/// gradient reads. Inputs: logarithms of probabilities, frames by samples by classes; labels, samples
/// by as many as the longest has, or one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CtcOp {
    /// How long the sequences are.
    pub lengths: Lengths,
    /// Whether labels that no frames can say have a loss and a gradient of zero.
    pub zero_infinity: bool,
}

impl CtcOp {
    /// Where each sample's labels begin.
    fn starts(&self, targets: &Value) -> Vec<usize> {
        if targets.rank() == 2 {
            return (0..self.lengths.labels.len())
                .map(|sample| sample * targets.shape[1])
                .collect();
        }
        let mut end = 0;
        let after = |&count: &usize| {
            end += count;
            end - count
        };
        self.lengths.labels.iter().map(after).collect()
    }

    /// Calls `f` with the labels as the kernels read them.
    fn with_labels<R>(
        &self,
        classes: usize,
        targets: &Value,
        f: impl FnOnce(Labels<'_>) -> Result<R>,
    ) -> Result<R> {
        let starts = self.starts(targets);
        let counts = &self.lengths.labels;
        let used: Vec<_> = starts.iter().copied().zip(counts.iter().copied()).collect();
        let labels = labels_of("ctc_loss", targets, classes, &used)?;
        f(Labels {
            labels: &labels,
            starts: &starts,
            counts,
            frames: &self.lengths.frames,
            blank: self.lengths.blank,
        })
    }

    fn width(&self) -> usize {
        2 * self.lengths.labels.iter().copied().max().unwrap_or(0) + 1
    }
}

#[typetag::serde]
impl Primitive for CtcOp {
    fn name(&self) -> &'static str {
        "ctc_loss"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (log_probs, targets) = (inputs[0], inputs[1]);
        check("ctc_loss", log_probs, targets, 3, "(frames, samples, classes)")?;
        let (steps, batch) = (log_probs.shape[0], log_probs.shape[1]);
        let total: usize = self.lengths.labels.iter().sum();
        let fits = match targets.rank() {
            2 => targets.shape[0] == batch,
            rank => rank == 1 && targets.shape[0] >= total,
        };
        if !fits {
            bail!(
                Runtime,
                "ctc_loss: expected targets of shape ({batch}, longest) or ({total},), got {:?}",
                targets.shape
            );
        }
        let dtype = log_probs.dtype;
        let losses = Meta::new(&[batch][..], dtype);
        Ok(smallvec![losses, Meta::new(&[batch, steps, self.width()][..], dtype.widened())])
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let log_probs = inputs[0];
        crate::with_dtype!("ctc_loss", log_probs.dtype, floats, T => {
            let x = log_probs.view::<T>()?;
            let (mut losses, alphas) = self
                .with_labels(log_probs.shape[2], inputs[1], |labels| Ok(kernels::ctc::ctc(x, labels)))?;
            if self.zero_infinity {
                losses.iter_mut().filter(|loss| loss.is_infinite()).for_each(|loss| *loss = 0.0);
            }
            let parts = [losses, alphas].into_iter().zip(out);
            Ok(parts.map(|(part, meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 3, outputs: 2 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let inputs = [ctx.grad()?, &ctx.inputs[0], &ctx.inputs[1], &ctx.outputs[1]];
        Ok(smallvec![Some(apply1(&CtcBackwardOp { forward: self.clone() }, &inputs)?), None])
    }
}

/// The gradient of [`CtcOp`]. Inputs: those of the losses, the op's inputs, and what it gave for this.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CtcBackwardOp {
    /// Whose gradient it is.
    pub forward: CtcOp,
}

#[typetag::serde]
impl Primitive for CtcBackwardOp {
    fn name(&self) -> &'static str {
        "ctc_loss_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[1].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (grad, log_probs, alphas) = (inputs[0], inputs[1], inputs[3]);
        crate::with_dtype!("ctc_loss", log_probs.dtype, floats, T => {
            let (grad, x, alphas) = (grad.view::<T>()?, log_probs.view::<T>()?, alphas.view::<T>()?);
            let zero = self.forward.zero_infinity;
            let found = self.forward.with_labels(log_probs.shape[2], inputs[2], |labels| {
                Ok(kernels::ctc::ctc_backward(grad, x, alphas, labels, zero))
            })?;
            single(Value::from_vec_as(found, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn vjp(&self, _ctx: &Vjp<'_>) -> Result<Grads> {
        bail!(
            Unsupported,
            "ctc_loss: the gradient of its gradient is not implemented, in PyTorch neither"
        )
    }
}

/// The loss of a transducer for each sample. Inputs: logarithms of probabilities, samples by frames
/// by labels said so far by classes; labels, samples by as many as the longest may have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RnntOp {
    /// How long the sequences are.
    pub lengths: Lengths,
}

/// Calls `f` with the labels as the kernels read them.
fn with_transcripts<R>(
    lengths: &Lengths,
    log_probs: &Value,
    targets: &Value,
    f: impl FnOnce(Transcripts<'_>) -> Result<R>,
) -> Result<R> {
    let room = targets.shape[1];
    let used: Vec<_> =
        lengths.labels.iter().enumerate().map(|(at, &count)| (at * room, count)).collect();
    let labels = labels_of("rnnt_loss", targets, log_probs.shape[3], &used)?;
    f(Transcripts {
        labels: &labels,
        counts: &lengths.labels,
        frames: &lengths.frames,
        blank: lengths.blank,
    })
}

#[typetag::serde]
impl Primitive for RnntOp {
    fn name(&self) -> &'static str {
        "rnnt_loss"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (log_probs, targets) = (inputs[0], inputs[1]);
        let shape = "(samples, frames, labels + 1, classes)";
        check("rnnt_loss", log_probs, targets, 4, shape)?;
        let (batch, places) = (log_probs.shape[0], log_probs.shape[2]);
        if targets.rank() != 2 || targets.shape[0] != batch || targets.shape[1] + 1 != places {
            bail!(
                Runtime,
                "rnnt_loss: expected targets of shape ({batch}, {}) for an input of shape {:?} \
                 {shape}, got {:?}",
                places as i64 - 1,
                log_probs.shape,
                targets.shape
            );
        }
        if self.lengths.frames.contains(&0) {
            bail!(Runtime, "rnnt_loss: expected every sample to have a frame, got a length of 0");
        }
        one(Meta::new(&[batch][..], log_probs.dtype))
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let log_probs = inputs[0];
        crate::with_dtype!("rnnt_loss", log_probs.dtype, floats, T => {
            let x = log_probs.view::<T>()?;
            let losses = with_transcripts(&self.lengths, log_probs, inputs[1], |transcripts| {
                Ok(kernels::loss_rnnt::rnnt(x, transcripts))
            })?;
            single(Value::from_vec_as(losses, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let op = RnntBackwardOp { lengths: self.lengths.clone() };
        let inputs = [ctx.grad()?, &ctx.inputs[0], &ctx.inputs[1]];
        Ok(smallvec![Some(apply1(&op, &inputs)?), None])
    }
}

/// The gradient of [`RnntOp`]. Inputs: those of the losses, and the op's inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RnntBackwardOp {
    /// How long the sequences are.
    pub lengths: Lengths,
}

#[typetag::serde]
impl Primitive for RnntBackwardOp {
    fn name(&self) -> &'static str {
        "rnnt_loss_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[1].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (grad, log_probs) = (inputs[0], inputs[1]);
        crate::with_dtype!("rnnt_loss", log_probs.dtype, floats, T => {
            let (grad, x) = (grad.view::<T>()?, log_probs.view::<T>()?);
            let found = with_transcripts(&self.lengths, log_probs, inputs[2], |transcripts| {
                Ok(kernels::loss_rnnt::rnnt_backward(grad, x, transcripts))
            })?;
            single(Value::from_vec_as(found, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn vjp(&self, _ctx: &Vjp<'_>) -> Result<Grads> {
        bail!(Unsupported, "rnnt_loss: the gradient of its gradient is not implemented")
    }
}

impl Tensor {
    /// Minus the logarithm of the probability that the frames (first dimension) of each sample
    /// (second) say its labels. The gradient is that by normalised logarithms of probabilities, as
    /// PyTorch's.
    pub fn ctc_loss(
        &self,
        targets: &Tensor,
        frames: &[i64],
        labels: &[i64],
        blank: i64,
        zero_infinity: bool,
    ) -> Result<Tensor> {
        let (shape, own) = (targets.shape(), self.shape());
        let &[steps, batch, classes] = &own[..] else {
            bail!(
                Runtime,
                "ctc_loss: expected an input of shape (frames, samples, classes), got {own:?}"
            );
        };
        let room = shape.last().copied().unwrap_or(0);
        let sizes = (batch, steps, room, classes);
        let lengths = Lengths::checked("ctc_loss", frames, labels, blank, sizes)?;
        Ok(apply(&CtcOp { lengths, zero_infinity }, &[self, targets])?.swap_remove(0))
    }

    /// The loss of a transducer for each sample, from logarithms of probabilities: samples by frames
    /// by labels said so far by classes.
    pub fn rnnt_loss(
        &self,
        targets: &Tensor,
        frames: &[i64],
        labels: &[i64],
        blank: i64,
    ) -> Result<Tensor> {
        let own = self.shape();
        let &[batch, steps, places, classes] = &own[..] else {
            bail!(
                Runtime,
                "rnnt_loss: expected an input of shape (samples, frames, labels + 1, classes), got \
                 {own:?}"
            );
        };
        let sizes = (batch, steps, places.saturating_sub(1), classes);
        let lengths = Lengths::checked("rnnt_loss", frames, labels, blank, sizes)?;
        apply1(&RnntOp { lengths }, &[self, targets])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    fn ints(data: &[i64], shape: &[usize]) -> Tensor {
        Tensor::from_vec(data.to_vec(), shape).unwrap()
    }

    #[test]
    fn both_forms_of_targets_agree_and_gradients_pass_logits() {
        let x = noise(&[5, 3, 4], DType::F64, 1);
        let padded = ints(&[1, 2, 2, 3, 9, 9, 1, 9, 9], &[3, 3]);
        let joined = ints(&[1, 2, 2, 3, 1], &[5]);
        let of = |x: &Tensor, targets: &Tensor| {
            x.log_softmax(2, None)?.ctc_loss(targets, &[5, 4, 3], &[3, 1, 1], 0, false)
        };
        let losses = of(&x, &padded).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(losses, of(&x, &joined).unwrap().to_vec::<f64>().unwrap());
        gradcheck("ctc_loss", std::slice::from_ref(&x), false, &|x| Ok(vec![of(&x[0], &padded)?]));
    }

    #[test]
    fn transducers_have_gradients() {
        let x = noise(&[2, 3, 3, 4], DType::F64, 1);
        let targets = ints(&[1, 2, 3, 9], &[2, 2]);
        gradcheck("rnnt_loss", &[x], false, &|x| {
            Ok(vec![x[0].log_softmax(3, None)?.rnnt_loss(&targets, &[3, 2], &[2, 1], 0)?])
        });
    }

    #[test]
    fn wrong_calls_are_explained() {
        let x = noise(&[5, 2, 4], DType::F32, 1);
        let targets = ints(&[1, 2, 3, 1], &[2, 2]);
        let message = |targets: &Tensor, frames: &[i64], labels: &[i64], blank| {
            x.ctc_loss(targets, frames, labels, blank, false).unwrap_err().to_string()
        };
        assert!(message(&targets, &[5, 6], &[2, 2], 0).contains("input_lengths from 0 to 5"));
        assert!(message(&targets, &[5], &[2, 2], 0).contains("expected 2 input_lengths"));
        assert!(message(&targets, &[5, 5], &[3, 2], 0).contains("target_lengths from 0 to 2"));
        assert!(message(&targets, &[5, 5], &[2, 2], 4).contains("blank"));
        assert!(message(&ints(&[1, 9], &[2]), &[5, 5], &[1, 1], 0).contains("from 0 to 3, got 9"));
        assert!(message(&ints(&[1, 2], &[2]), &[5, 5], &[2, 2], 0).contains("(4,)"));
        let x = noise(&[2, 3, 3, 4], DType::F32, 1);
        let fault = x.rnnt_loss(&targets, &[0, 3], &[2, 1], 0).unwrap_err().to_string();
        assert!(fault.contains("have a frame"));
        // No second derivative.
        let x = noise(&[5, 2, 4], DType::F64, 1);
        x.set_requires_grad(true).unwrap();
        let loss = x.ctc_loss(&targets, &[5, 5], &[2, 2], 0, false).unwrap();
        let loss = loss.sum(None, false).unwrap();
        let grads =
            crate::autograd::grad(&[loss], std::slice::from_ref(&x), &[None], true, true).unwrap();
        let sum = grads[0].as_ref().unwrap().sum(None, false).unwrap();
        let fault = crate::autograd::grad(&[sum], &[x], &[None], false, false).unwrap_err();
        assert!(fault.to_string().contains("not implemented"));
    }
}

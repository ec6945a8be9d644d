//! Spectra of overlapping pieces of a signal.

use super::FftNorm;
use crate::op::apply1;
use crate::ops::pad::PadMode;
use crate::ops::unary::Unary;
use crate::ops::view::{ViewBackward, ViewOp};
use crate::tensor::Tensor;
use crate::{Result, Scalar, bail};

/// How a signal is cut into pieces.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    /// Elements of every transform.
    pub n_fft: usize,
    /// Distance of two pieces; a quarter of `n_fft` by default.
    pub hop_length: Option<usize>,
    /// Length of the window, which is centred in the piece; `n_fft` by default.
    pub win_length: Option<usize>,
    /// The window; ones by default.
    pub window: Option<&'a Tensor>,
    /// Whether pieces are centred on their place in the signal.
    pub center: bool,
    /// Whether transforms are scaled by `1/sqrt(n_fft)`.
    pub normalized: bool,
    /// Whether only half of each spectrum is given; by default where all is real.
    pub onesided: Option<bool>,
}

impl Frames<'_> {
    /// The distance of two pieces and the window at full length, both checked.
    fn checked(&self, op: &str, signal: &Tensor) -> Result<(usize, Option<Tensor>)> {
        let hop = self.hop_length.unwrap_or(self.n_fft / 4);
        let length = self.win_length.unwrap_or(self.n_fft);
        if hop == 0 {
            bail!(Runtime, "{op}: expected hop_length > 0, but got hop_length={hop}");
        }
        if length == 0 || length > self.n_fft {
            bail!(
                Runtime,
                "{op}: expected 0 < win_length <= n_fft, but got win_length={length}, n_fft={}",
                self.n_fft
            );
        }
        let window = match self.window {
            Some(window) => {
                if window.rank() != 1 || window.numel() != length {
                    bail!(
                        Runtime,
                        "{op}: expected a 1D window tensor of size equal to win_length={length}, but got \
                         window with size {:?}",
                        window.shape()
                    );
                }
                if window.device() != signal.device() {
                    bail!(
                        Runtime,
                        "{op}: input and window must be on the same device but got self on {} and window \
                         on {}",
                        signal.device(),
                        window.device()
                    );
                }
                Some(window.clone())
            }
            None if length < self.n_fft => {
                Some(Tensor::ones(&[length], signal.dtype().to_real(), signal.device())?)
            }
            None => None,
        };
        let left = ((self.n_fft - length) / 2) as i64;
        let right = (self.n_fft - length) as i64 - left;
        let window = match window {
            Some(window) if length < self.n_fft => {
                Some(window.pad(&[left, right], PadMode::Constant(Scalar::Int(0)))?)
            }
            other => other,
        };
        Ok((hop, window))
    }

    fn norm(&self) -> FftNorm {
        if self.normalized { FftNorm::Ortho } else { FftNorm::Backward }
    }
}

impl Tensor {
    /// Spectra of the pieces of a signal `(length)` or of several, `(batch, length)`: as columns,
    /// `(batch, frequencies, pieces)`, with real and imaginary part in a last dimension unless
    /// `return_complex`.
    pub fn stft(
        &self,
        frames: &Frames<'_>,
        pad_mode: PadMode,
        return_complex: Option<bool>,
    ) -> Result<Tensor> {
        let op = "stft";
        let complex =
            self.dtype().is_complex() || frames.window.is_some_and(|w| w.dtype().is_complex());
        let Some(return_complex) = return_complex.or(complex.then_some(true)) else {
            bail!(
                Runtime,
                "{op}: requires the return_complex parameter be given for real inputs, and will further \
                 require that return_complex=True in a future PyTorch release."
            );
        };
        if !self.dtype().is_differentiable() {
            bail!(
                Runtime,
                "{op}: expected a tensor of floating point or complex values, got {}",
                self.dtype()
            );
        }
        let rank = self.rank();
        if rank != 1 && rank != 2 {
            bail!(Runtime, "{op}: expected a 1D or 2D tensor, got shape {:?}", self.shape());
        }
        let mut signal = if rank == 1 { self.unsqueeze(0)? } else { self.clone() };
        let n_fft = frames.n_fft;
        if frames.center {
            let side = (n_fft / 2) as i64;
            signal = signal.pad(&[side, side], pad_mode)?;
        }
        let length = signal.shape()[1];
        if n_fft == 0 || n_fft > length {
            bail!(Runtime, "{op}: expected 0 < n_fft <= {length}, but got n_fft={n_fft}");
        }
        let (hop, window) = frames.checked(op, self)?;
        let mut pieces = signal.unfold(-1, n_fft as i64, hop as i64)?;
        if let Some(window) = window {
            pieces = pieces.mul(&window)?;
        }
        let onesided = frames.onesided.unwrap_or(!complex);
        let spectra = if onesided {
            if complex {
                bail!(Runtime, "{op}: Cannot have onesided output if window or input is complex");
            }
            pieces.rfft(None, -1, frames.norm())?
        } else {
            pieces.fft(None, -1, frames.norm())?
        };
        let mut out = spectra.transpose(1, 2)?;
        if rank == 1 {
            out = out.squeeze(Some(&[0]))?;
        }
        if return_complex { Ok(out) } else { out.view_op(ViewOp::AsReal) }
    }

    /// The signal whose spectra these are, see [`stft`](Tensor::stft): pieces are added up where they
    /// overlap and divided by the windows' sum.
    pub fn istft(
        &self,
        frames: &Frames<'_>,
        length: Option<usize>,
        return_complex: bool,
    ) -> Result<Tensor> {
        let op = "istft";
        if !self.dtype().is_complex() {
            bail!(
                Runtime,
                "{op}: requires a complex-valued input tensor matching the output from stft with \
                 return_complex=True."
            );
        }
        let rank = self.rank();
        if rank != 2 && rank != 3 {
            bail!(
                Runtime,
                "{op}: expected a tensor with 2 or 3 dimensions, but got {rank} (shape {:?})",
                self.shape()
            );
        }
        if self.numel() == 0 {
            bail!(Runtime, "{op}: input tensor cannot be empty.");
        }
        let spectra = if rank == 2 { self.unsqueeze(0)? } else { self.clone() };
        let shape = spectra.shape();
        let (batch, bins, count) = (shape[0], shape[1], shape[2]);
        let n_fft = frames.n_fft;
        let complex_window = frames.window.is_some_and(|window| window.dtype().is_complex());
        let onesided = frames.onesided.unwrap_or(bins != n_fft);
        if onesided && bins != super::half(n_fft) {
            bail!(
                Runtime,
                "{op}: expected the frequency dimension (3rd to the last) of the input tensor to match \
                 n_fft / 2 + 1 when onesided=True, but got {bins}"
            );
        }
        if !onesided && bins != n_fft {
            bail!(
                Runtime,
                "{op}: expected the frequency dimension (3rd to the last) of the input tensor to match \
                 n_fft when onesided=False, but got {bins}"
            );
        }
        if return_complex && onesided {
            bail!(Runtime, "{op}: cannot have onesided and return_complex both set");
        }
        if complex_window && !return_complex {
            bail!(Runtime, "{op}: Complex windows are incompatible with return_complex=False");
        }
        let (hop, window) = frames.checked(op, self)?;
        let columns = spectra.transpose(1, 2)?;
        let mut pieces = if return_complex {
            columns.ifft(None, -1, frames.norm())?
        } else {
            // Of a whole spectrum the first half says all of a real signal.
            columns.irfft(Some(n_fft as i64), -1, frames.norm())?
        };
        let window = match window {
            Some(window) => window,
            None => Tensor::ones(&[n_fft], self.dtype().to_real(), self.device())?,
        };
        pieces = pieces.mul(&window)?;
        let whole = n_fft + hop * (count - 1);
        // What cutting into pieces adds up to, read backwards.
        let overlap = |pieces: &Tensor, batch: usize| -> Result<Tensor> {
            let op = ViewOp::Unfold { dim: 1, size: n_fft, step: hop };
            apply1(&ViewBackward { op, shape: [batch, whole].as_slice().into() }, &[pieces])
        };
        let signal = overlap(&pieces, batch)?;
        let squares = window.square()?.expand_to(op, &[1, count, n_fft])?;
        let envelope = overlap(&squares, 1)?;
        let start = if frames.center { n_fft / 2 } else { 0 };
        let end = match length {
            Some(length) => start + length,
            None if frames.center => whole.saturating_sub(n_fft / 2),
            None => whole,
        };
        let kept = end.min(whole).saturating_sub(start);
        if kept == 0 {
            bail!(
                Runtime,
                "{op}: expected a signal of at least one element, got {count} pieces of {n_fft}"
            );
        }
        let envelope = envelope.slice(1, start, kept, 1)?;
        let smallest = envelope.detach().unary(Unary::Abs)?.amin(None, false)?.item()?.to_f64();
        if smallest <= 1e-11 {
            bail!(
                Runtime,
                "{op}: window overlap add min: {smallest} is not positive; hint: use a smaller hop_length"
            );
        }
        let mut out = signal.slice(1, start, kept, 1)?.div(&envelope)?;
        if end > whole {
            out = out.pad(&[0, (end - whole) as i64], PadMode::Constant(Scalar::Int(0)))?;
        }
        if rank == 2 { out.squeeze(Some(&[0])) } else { Ok(out) }
    }
}

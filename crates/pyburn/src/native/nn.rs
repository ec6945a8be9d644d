//! Activation functions, normalisation, embeddings and losses that are ops of their own.

use wrap_burn::Tensor;
use wrap_burn::ops::activation::Activation;
use wrap_burn::ops::loss::PairLoss;
use wrap_burn::ops::norm::Running;

use super::Sizes;
use crate::args::{Ints, T};

fn elu_of(alpha: f64, scale: f64, rate: f64) -> Activation {
    Activation::Elu { alpha, scale, rate }
}

/// Running statistics, which come in pairs.
fn running<'a>(
    op: &str,
    mean: &'a Option<T>,
    variance: &'a Option<T>,
) -> wrap_burn::Result<Option<Running<'a>>> {
    match (mean, variance) {
        (Some(mean), Some(variance)) => Ok(Some(Running { mean: &mean.0, variance: &variance.0 })),
        (None, None) => Ok(None),
        _ => Err(wrap_burn::error!(
            Runtime,
            "{op}: expected running_mean and running_var to be given both or not at all"
        )),
    }
}

fn tensor(argument: &Option<T>) -> Option<&Tensor> {
    argument.as_ref().map(|argument| &argument.0)
}

native! {
    fn leaky_relu(input, slope: f64) => input.activation(Activation::LeakyRelu { slope });
    fn leaky_relu_(input, slope: f64) => input.activation_(Activation::LeakyRelu { slope });
    fn elu(input, alpha: f64, scale: f64, rate: f64) => input.activation(elu_of(alpha, scale, rate));
    fn elu_(input, alpha: f64, scale: f64, rate: f64) => input.activation_(elu_of(alpha, scale, rate));
    fn hardtanh(input, low: f64, high: f64) => input.activation(Activation::Hardtanh { low, high });
    fn hardtanh_(input, low: f64, high: f64) => input.activation_(Activation::Hardtanh { low, high });
    fn hardsigmoid(input) => input.activation(Activation::Hardsigmoid);
    fn hardsigmoid_(input) => input.activation_(Activation::Hardsigmoid);
    fn hardswish(input) => input.activation(Activation::Hardswish);
    fn hardswish_(input) => input.activation_(Activation::Hardswish);
    fn softplus(input, beta: f64, threshold: f64) =>
        input.activation(Activation::Softplus { beta, threshold });
    fn hardshrink(input, lambd: f64) => input.activation(Activation::Hardshrink { lambda: lambd });
    fn softshrink(input, lambd: f64, bias: f64) =>
        input.activation(Activation::Softshrink { lambda: lambd, bias });
    fn threshold(input, threshold: f64, value: f64) =>
        input.activation(Activation::Threshold { threshold, value });
    fn threshold_(input, threshold: f64, value: f64) =>
        input.activation_(Activation::Threshold { threshold, value });

    fn layer_norm(input, shape: Sizes, weight: Option<T>, bias: Option<T>, eps: f64) =>
        input.layer_norm(&shape.0, tensor(&weight), tensor(&bias), eps);
    fn rms_norm(input, shape: Sizes, weight: Option<T>, eps: Option<f64>) =>
        input.rms_norm(&shape.0, tensor(&weight), eps);
    fn group_norm(input, groups: usize, weight: Option<T>, bias: Option<T>, eps: f64) =>
        input.group_norm(groups, tensor(&weight), tensor(&bias), eps);
    fn batch_norm(
        input, mean: Option<T>, variance: Option<T>, weight: Option<T>, bias: Option<T>,
        training: bool, momentum: f64, eps: f64
    ) => input.batch_norm(
        running("batch_norm", &mean, &variance)?, tensor(&weight), tensor(&bias), training, momentum, eps
    );
    fn instance_norm(
        input, mean: Option<T>, variance: Option<T>, weight: Option<T>, bias: Option<T>,
        own: bool, momentum: f64, eps: f64
    ) => input.instance_norm(
        running("instance_norm", &mean, &variance)?, tensor(&weight), tensor(&bias), own, momentum, eps
    );

    fn embedding(input, index: T, padding: Option<usize>, by_frequency: bool) =>
        input.embedding(&index.0, padding, by_frequency);
    fn lower_bound(input, bound: T) => input.lower_bound(&bound.0);

    fn mse_loss(input, target: T) => input.pair_loss(PairLoss::Square, &target.0);
    fn l1_loss(input, target: T) => input.pair_loss(PairLoss::Absolute, &target.0);
    fn smooth_l1_loss(input, target: T, beta: f64) =>
        input.pair_loss(PairLoss::SmoothL1 { beta }, &target.0);
    fn huber_loss(input, target: T, delta: f64) =>
        input.pair_loss(PairLoss::Huber { delta }, &target.0);
    fn binary_cross_entropy(input, target: T) =>
        input.pair_loss(PairLoss::BinaryCrossEntropy, &target.0);
    fn binary_cross_entropy_with_logits(input, target: T) =>
        input.pair_loss(PairLoss::BinaryCrossEntropyOfLogits, &target.0);
    fn cross_entropy(input, target: T, weight: Option<T>, ignored: i64, smoothing: f64) =>
        input.cross_entropy(&target.0, tensor(&weight), ignored, smoothing);
    fn ctc_loss(input, targets: T, frames: Ints, labels: Ints, blank: i64, zero_infinity: bool) =>
        input.ctc_loss(&targets.0, &frames.0, &labels.0, blank, zero_infinity);
    fn rnnt_loss(input, targets: T, frames: Ints, labels: Ints, blank: i64) =>
        input.rnnt_loss(&targets.0, &frames.0, &labels.0, blank);
}

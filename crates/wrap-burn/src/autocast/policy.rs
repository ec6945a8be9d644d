//! Which ops compute in which dtype: PyTorch's lists, which differ between CPU and GPUs.

use super::Kind;

/// What an op's floats become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// The narrow dtype of the device.
    Narrow,
    /// `f32`.
    Wide,
    /// The widest of the inputs' dtypes.
    Widest,
    /// What they are, for what the op is made of too.
    Given,
}

impl Policy {
    /// What an op or a function of this name wants; `None` leaves a function to its ops, and
    /// computes an op in what it is given.
    pub(super) fn of(name: &str, kind: Kind) -> Option<Policy> {
        let gpu = kind != Kind::Cpu;
        let by = |on_cpu: Policy, on_gpu: Policy| if gpu { on_gpu } else { on_cpu };
        Some(match name {
            // Products of matrices, and what is made of them.
            "matmul" | "mm" | "bmm" | "inner" | "addmm" | "addbmm" | "baddbmm" | "vecdot"
            | "_multi_dot" | "_chain_matmul" | "linear" | "prelu" => Policy::Narrow,
            "convolution" | "conv1d" | "conv2d" | "conv3d" => Policy::Narrow,
            "convolution_transposed"
            | "conv_transpose1d"
            | "conv_transpose2d"
            | "conv_transpose3d" => Policy::Narrow,
            "scaled_dot_product_attention" => Policy::Narrow,
            "lstm" | "gru" | "rnn_tanh" | "rnn_relu" => Policy::Narrow,
            "mv" | "addmv" | "addr" => by(Policy::Given, Policy::Narrow),
            "_einsum" if gpu => Policy::Narrow,

            // Losses: sums of many small numbers.
            "binary_cross_entropy"
            | "binary_cross_entropy_with_logits"
            | "cosine_embedding_loss"
            | "cross_entropy"
            | "ctc_loss"
            | "hinge_embedding_loss"
            | "huber_loss"
            | "kl_div"
            | "l1_loss"
            | "margin_ranking_loss"
            | "mse_loss"
            | "multi_margin_loss"
            | "multilabel_margin_loss"
            | "nll_loss"
            | "poisson_nll_loss"
            | "smooth_l1_loss"
            | "soft_margin_loss"
            | "triplet_margin_loss" => Policy::Wide,

            // What refuses halves, or loses too much in them.
            "cdist" | "prod" | "quantile" | "nanquantile" | "trace" | "_polar"
            | "view_as_complex" => Policy::Wide,
            "fft" | "fft2" | "fftn" | "ifft" | "ifft2" | "ifftn" | "rfft" | "rfft2" | "rfftn"
            | "irfft" | "irfft2" | "irfftn" | "hfft" | "hfft2" | "hfftn" | "ihfft" | "ihfft2"
            | "ihfftn" | "stft" => Policy::Wide,
            "cond" | "geqrf" | "lstsq" | "matrix_rank" | "matrix_sqrth" | "ormqr" | "pinv"
            | "solve" | "tensorsolve" => Policy::Wide,
            "grid_sample" => by(Policy::Wide, Policy::Widest),
            "adaptive_avg_pool3d" | "adaptive_max_pool3d" | "avg_pool3d" | "max_pool3d" if !gpu => {
                Policy::Wide
            }
            "linalg_norm" | "linalg_vector_norm" => return gpu.then_some(Policy::Wide),
            _ if name.starts_with("linalg_") => Policy::Wide,

            // Kernels on the CPU sum halves in `f32` anyway; PyTorch widens on GPUs only.
            "acos" | "asin" | "cosh" | "erfinv" | "exp" | "expm1" | "log" | "log10" | "log1p"
            | "log2" | "pow" | "reciprocal" | "rsqrt" | "sinh" | "softplus" | "tan"
                if gpu =>
            {
                Policy::Wide
            }
            "cumprod" | "cumsum" | "log_softmax" | "logsumexp" | "softmax" | "sum" if gpu => {
                Policy::Wide
            }
            "group_norm" | "layer_norm" | "rms_norm" if gpu => Policy::Wide,
            "cosine_similarity" | "dist" | "interpolate" | "pdist" | "renorm" if gpu => {
                Policy::Wide
            }

            // Several tensors that have to agree; where others meet, the engine promotes them.
            "bilinear" | "index_copy" | "index_put" | "scatter_add" => Policy::Widest,
            "dot" | "vdot" | "tensordot" => by(Policy::Given, Policy::Widest),
            _ => return None,
        })
    }
}

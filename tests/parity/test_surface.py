"""Every name that real libraries use is here, or is missing with a reason.

The lists are what braindecode, PyTorch Geometric, MONAI and timm use of PyTorch, tests left out.
"""

from __future__ import annotations

import importlib

import pyburn
import pytest
from pyburn._absent import ABSENT, AbsentModule, reason_of

LAYERS = """
    BatchNorm1d Conv1d Conv2d Dropout Embedding Identity LayerNorm Linear Module ModuleList
    Parameter ReLU Sequential SiLU Sigmoid AdaptiveAvgPool2d AdaptiveMaxPool2d AvgPool1d AvgPool2d
    BatchNorm2d ConstantPad2d Conv3d Dropout2d ELU Flatten GELU GroupNorm LSTM MaxPool2d ModuleDict
    MultiheadAttention Softmax SyncBatchNorm Tanh TransformerEncoder TransformerEncoderLayer
    Upsample AdaptiveAvgPool1d AvgPool3d BCEWithLogitsLoss BatchNorm3d ConstantPad1d ConvTranspose2d
    CrossEntropyLoss DataParallel GRU InstanceNorm1d LeakyReLU MaxPool1d PReLU ParameterList
    ReplicationPad1d TransformerDecoder Unfold AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool3d
    AlphaDropout BCELoss ConstantPad3d ConvTranspose1d ConvTranspose3d Dropout1d Dropout3d GLU
    GRUCell Hardswish InstanceNorm2d InstanceNorm3d KLDivLoss LazyLinear LocalResponseNorm
    LogSoftmax MSELoss MaxPool3d MaxUnpool2d ParameterDict RMSNorm RNN ReLU6 ReplicationPad2d
    ReplicationPad3d Softplus Transformer TransformerDecoderLayer Unflatten UninitializedParameter
    ZeroPad2d"""

FUNCTIONAL = """
    dropout gelu layer_norm pad relu sigmoid softmax conv2d interpolate linear log_softmax normalize
    one_hot scaled_dot_product_attention softplus affine_grid batch_norm
    binary_cross_entropy_with_logits conv1d cosine_similarity grid_sample logsigmoid max_pool2d
    adaptive_avg_pool2d adaptive_max_pool2d avg_pool1d avg_pool2d conv3d elu elu_ fold group_norm
    instance_norm kl_div l1_loss leaky_relu leaky_relu_ margin_ranking_loss max_pool3d mish mse_loss
    nll_loss pixel_shuffle prelu relu6 rms_norm selu silu unfold"""

FUNCTIONS = """
    abs arange as_tensor bmm cat clamp cos div einsum empty exp eye from_numpy full gather linspace
    log matmul mean ones pow rand randint randn randperm sigmoid sin softmax split sqrt stack sum
    tanh tensor where zeros zeros_like concat diag flatten index_select load max maximum meshgrid
    min mul ones_like randn_like repeat_interleave save unsqueeze add argsort bucketize chunk clone
    empty_like flip is_floating_point isinf isnan logical_and logical_not norm outer prod rand_like
    relu reshape roll rsqrt sign squeeze tensor_split tril unique var view_as_complex view_as_real
    vstack _segment_reduce addcmul addmm all allclose amax amin angle argmax atan2 bernoulli
    bincount cdist clip combinations cross cumprod cumsum equal floor full_like hamming_window
    hann_window heaviside histc hstack imag isfinite isin log10 log2 log_softmax logical_or logspace
    median minimum mm multinomial nan_to_num narrow real reciprocal renorm round sort
    sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor square std stft topk triu triu_indices
    unbind var_mean vmap is_autocast_enabled get_autocast_dtype get_autocast_gpu_dtype
    get_autocast_cpu_dtype are_deterministic_algorithms_enabled
    is_deterministic_algorithms_warn_only_enabled use_deterministic_algorithms"""

SUBMODULES = """
    amp.autocast autograd.Function autograd.grad autograd.functional.jacobian fft.fft fft.fftn
    fft.fftfreq fft.ifft fft.ifftn fft.rfft fft.irfft fft.rfftfreq linalg.eigh linalg.inv
    linalg.lstsq linalg.norm linalg.pinv linalg.qr linalg.vector_norm
    nn.utils.parametrizations.weight_norm nn.utils.parametrize.register_parametrization
    utils.checkpoint.checkpoint utils.data.DataLoader utils.data.Dataset utils.data.IterableDataset
    utils.data.Sampler utils.data.get_worker_info utils.data.default_collate
    utils.dlpack.from_dlpack utils.dlpack.to_dlpack distributions.Beta sparse.mm fx.symbolic_trace
    fx.wrap jit.script jit.ignore jit.unused jit.export jit.is_scripting jit.Final
    hub.load_state_dict_from_url nested.as_nested_tensor optim.Optimizer
    optim.lr_scheduler.LambdaLR optim.lr_scheduler.ReduceLROnPlateau"""

METHODS = """
    all any bool chunk clamp clamp_ clone contiguous copy_ detach dim expand expand_as fill_ flatten
    float item long masked_fill max mean mul_ new_empty norm normal_ numel numpy permute pow relu
    repeat reshape sigmoid softmax squeeze sub tolist transpose uniform_ unsqueeze view zero_"""

NAMES = [
    *FUNCTIONS.split(),
    *SUBMODULES.split(),
    *(f"Tensor.{name}" for name in METHODS.split()),
    *(f"nn.{name}" for name in LAYERS.split()),
    *(f"nn.functional.{name}" for name in FUNCTIONAL.split()),
]


def find(path: str) -> object:
    """What stands at a dotted path below the package; its modules are imported on the way."""
    found: object = pyburn
    for at, step in enumerate(path.split(".")):
        if not hasattr(found, step):
            found = importlib.import_module("pyburn." + ".".join(path.split(".")[: at + 1]))
        else:
            found = getattr(found, step)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_name_is_here_or_missing_with_a_reason(name: str) -> None:
    reason = reason_of(name)
    if reason is None:
        assert callable(find(name)) or name in ("jit.Final",)
        return
    assert len(reason.split()) >= 4
    with pytest.raises((AttributeError, AbsentModule), match=r"."):
        find(name)


def test_nothing_is_listed_twice() -> None:
    assert len(NAMES) == len(set(NAMES))


def test_what_is_called_missing_is_missing() -> None:
    stale = []
    for name in ABSENT:
        try:
            find(name)
        except (AttributeError, ImportError):
            continue
        stale.append(name)
    assert not stale

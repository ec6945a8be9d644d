"""Normalisation of channels: over batches, and within each sample."""

from __future__ import annotations

import warnings
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, as_device, as_dtype, int64
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._lazy import LazyModuleMixin
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "SyncBatchNorm",
]


def _zero_count(device: DeviceLike | None) -> Tensor:
    return _core._full((), 0, int64, as_device(device))


class _NormBase(Module):
    """A weight and a bias for each channel, and running statistics of channels."""

    _version = 2
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, present in (("weight", True), ("bias", bias)):
            made = empty_parameter((num_features,), device, dtype) if affine and present else None
            self.register_parameter(name, made)
        place = as_device(device)
        kind = _core._narrow(place, _core.get_default_dtype()) if dtype is None else as_dtype(dtype)
        for name, value in (("running_mean", 0), ("running_var", 1)):
            stat = _core._full((num_features,), value, kind, place) if track_running_stats else None
            self.register_buffer(name, stat)
        self.register_buffer(
            "num_batches_tracked", _zero_count(place) if track_running_stats else None
        )
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets running means to zero, running variances to one, and forgets the batches."""
        for buffer, value in (
            (self.running_mean, 0),
            (self.running_var, 1),
            (self.num_batches_tracked, 0),
        ):
            if self.track_running_stats and buffer is not None:
                buffer.fill_(value)

    def reset_parameters(self) -> None:
        """Sets weights to one, biases to zero, and the running statistics to nothing."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__}: checks no dimensions")

    def _check_ranks(self, input: Tensor, *ranks: int) -> None:
        if input.ndim not in ranks:
            wanted = " or ".join(f"{rank}D" for rank in ranks)
            raise ValueError(
                f"{type(self).__name__}: expected {wanted} input (got {input.ndim}D input)"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        # Files from before the second version do not count batches.
        key = prefix + "num_batches_tracked"
        own = self.num_batches_tracked
        if (local_metadata.get("version") or 1) < 2 and own is not None and key not in state_dict:
            state_dict[key] = own if not own.is_meta else _zero_count("cpu")
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )


class _BatchNorm(_NormBase):
    """Normalisation of channels over a batch."""

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised by its own statistics in training, else by the running ones."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        own = self.training or (self.running_mean is None and self.running_var is None)
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None and not self.num_batches_tracked.is_meta:
                # The average over all batches so far.
                factor = 1.0 / float(self.num_batches_tracked)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            own,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, channel by channel.

    In training, mean and variance are those of the batch, and the running ones move towards them by
    the share ``momentum``; with ``momentum=None`` they are averages over all batches. In evaluation
    they are the running ones.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far running statistics move.
        affine: whether there are a weight and a bias.
        track_running_stats: whether there are running statistics; without, those of the batch serve
            always.
        bias: whether there is a bias.

    Shapes: ``(N, C)`` or ``(N, C, L)`` to the same.

    Example:
        >>> layer = nn.BatchNorm1d(2)
        >>> layer(pyburn.tensor([[1.0, 10.0], [3.0, 30.0]])).detach()
        tensor([[-1.0000, -1.0000],
                [ 1.0000,  1.0000]])
        >>> layer.running_mean
        tensor([0.2000, 2.0000])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """:class:`BatchNorm1d` for images, ``(N, C, H, W)``.

    Example:
        >>> nn.BatchNorm2d(3)(pyburn.randn(2, 3, 4, 4)).shape
        pyburn.Size([2, 3, 4, 4])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, 4)


class BatchNorm3d(_BatchNorm):
    """:class:`BatchNorm1d` for volumes, ``(N, C, D, H, W)``.

    Example:
        >>> nn.BatchNorm3d(3)(pyburn.randn(2, 3, 2, 4, 4)).shape
        pyburn.Size([2, 3, 2, 4, 4])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, 5)


class SyncBatchNorm(_BatchNorm):
    """:class:`BatchNorm1d` for any rank; the statistics would be those of all processes, of which
    there is one.

    Example:
        >>> model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(3))
        >>> model(pyburn.randn(2, 3, 4, 4)).shape
        pyburn.Size([2, 3, 4, 4])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        if process_group is not None:
            raise NotImplementedError(
                "SyncBatchNorm: process_group: one process uses one machine's devices; nothing is "
                "sent to other processes"
            )
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"SyncBatchNorm: expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm: number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Puts layers of this class in place of all batch normalisation in a module, with the same
        parameters and statistics."""
        result = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                made.weight = module.weight
                made.bias = module.bias
            made.running_mean = module.running_mean
            made.running_var = module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
            result = made
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _InstanceNorm(_NormBase):
    """Normalisation of channels within each sample."""

    _rank: int
    """The rank of an input without samples."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, self._rank, self._rank + 1)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised by its own statistics, or in evaluation by the running ones, if
        there are any."""
        self._check_input_dim(input)
        dim = input.ndim - self._rank
        if input.shape[dim] != self.num_features:
            text = (
                f"{type(self).__name__}: expected input's size at dim={dim} to match num_features "
                f"({self.num_features}), but got: {input.shape[dim]}"
            )
            if self.affine:
                raise ValueError(text)
            warnings.warn(f"{text}; num_features is not used because affine=False", stacklevel=2)
        if input.ndim == self._rank:
            return self._normed(input.unsqueeze(0)).squeeze(0)
        return self._normed(input)

    def _normed(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        # The oldest files hold statistics that nobody used.
        if local_metadata.get("version") is None and not self.track_running_stats:
            found = [
                name for name in ("running_mean", "running_var") if prefix + name in state_dict
            ]
            if found:
                names = " and ".join(f'"{prefix}{name}"' for name in found)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {type(self).__name__} with "
                    "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, "
                    "this may be expected; hint: remove these keys from state_dict, or set "
                    "track_running_stats=True."
                )
                for name in found:
                    state_dict.pop(prefix + name)
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )


class InstanceNorm1d(_InstanceNorm):
    """``(x - mean) / sqrt(var + eps)``, channel by channel of each sample.

    Args:
        num_features: the number of channels.
        affine: whether there are a weight and a bias.
        track_running_stats: whether averages of the statistics are kept, to serve in evaluation.

    Shapes: ``(N, C, L)`` or ``(C, L)`` to the same.

    Example:
        >>> nn.InstanceNorm1d(1)(pyburn.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """

    _rank = 2


class InstanceNorm2d(_InstanceNorm):
    """:class:`InstanceNorm1d` for images, ``(N, C, H, W)`` or ``(C, H, W)``.

    Example:
        >>> nn.InstanceNorm2d(3)(pyburn.randn(2, 3, 4, 4)).shape
        pyburn.Size([2, 3, 4, 4])
    """

    _rank = 3


class InstanceNorm3d(_InstanceNorm):
    """:class:`InstanceNorm1d` for volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``.

    Example:
        >>> nn.InstanceNorm3d(3)(pyburn.randn(2, 3, 2, 4, 4)).shape
        pyburn.Size([2, 3, 2, 4, 4])
    """

    _rank = 4


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Normalisation that learns its number of channels from its first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _zero_count(device)

    def reset_parameters(self) -> None:
        """Sets everything to what it is at first, once shapes are known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Takes the number of channels from an input."""
        if self.num_features == 0:
            self.num_features = input.shape[1]
        if not self.has_uninitialized_params():
            # The parameters were loaded, or there are none.
            return
        for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
            if isinstance(tensor, UninitializedParameter | UninitializedBuffer):
                tensor.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A :class:`BatchNorm1d` that learns ``num_features`` from its first input.

    Example:
        >>> layer = nn.LazyBatchNorm1d()
        >>> _ = layer(pyburn.randn(5, 3))
        >>> layer.num_features
        3
    """

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, 2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A :class:`BatchNorm2d` that learns ``num_features`` from its first input.

    Example:
        >>> nn.LazyBatchNorm2d()(pyburn.randn(2, 3, 4, 4)).shape
        pyburn.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, 4)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A :class:`BatchNorm3d` that learns ``num_features`` from its first input.

    Example:
        >>> nn.LazyBatchNorm3d()(pyburn.randn(2, 3, 2, 4, 4)).shape
        pyburn.Size([2, 3, 2, 4, 4])
    """

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input: Tensor) -> None:
        self._check_ranks(input, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An :class:`InstanceNorm1d` that learns ``num_features`` from its first input.

    Example:
        >>> nn.LazyInstanceNorm1d()(pyburn.randn(2, 3, 4)).shape
        pyburn.Size([2, 3, 4])
    """

    cls_to_become = InstanceNorm1d
    _rank = 2


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An :class:`InstanceNorm2d` that learns ``num_features`` from its first input.

    Example:
        >>> nn.LazyInstanceNorm2d()(pyburn.randn(2, 3, 4, 4)).shape
        pyburn.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d
    _rank = 3


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An :class:`InstanceNorm3d` that learns ``num_features`` from its first input.

    Example:
        >>> nn.LazyInstanceNorm3d()(pyburn.randn(2, 3, 2, 4, 4)).shape
        pyburn.Size([2, 3, 2, 4, 4])
    """

    cls_to_become = InstanceNorm3d
    _rank = 4

"""Averages of a model's weights over training: stochastic (SWA) and exponential (EMA).

Example:
    >>> model = nn.Linear(2, 1)
    >>> optimizer = pyburn.optim.SGD(model.parameters(), lr=0.1)
    >>> averaged = pyburn.optim.swa_utils.AveragedModel(model)
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     model(pyburn.ones(4, 2)).square().mean().backward()
    ...     optimizer.step()
    ...     averaged.update_parameters(model)
    >>> averaged.n_averaged
    tensor(3)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import pyburn
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike
from pyburn.autograd import no_grad
from pyburn.lr_scheduler._base import LRScheduler, Rate, per_group
from pyburn.nn import Module
from pyburn.nn._norm_batch import _BatchNorm
from pyburn.optim._optimizer import Optimizer

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Averaging = Callable[[Tensor, Tensor, Any], Tensor]
"""Gives the new average from the average, the model's value and how many are averaged already."""

MultiAveraging = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]
"""Writes new averages over the ones given, of many tensors of one device and dtype."""


def get_ema_avg_fn(decay: float = 0.999) -> Averaging:
    r"""The exponential moving average of one tensor.

    .. math:: w' = d \, w + (1 - d) \, w_{model}

    Example:
        >>> average = pyburn.optim.swa_utils.get_ema_avg_fn(decay=0.75)
        >>> average(pyburn.zeros(1), pyburn.ones(1), 1)
        tensor([0.2500])
    """
    _check_decay("get_ema_avg_fn", decay)

    @no_grad
    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        return decay * averaged + (1 - decay) * current

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAveraging:
    """The exponential moving average of many tensors, written over them.

    Example:
        >>> averaged = [pyburn.zeros(1), pyburn.zeros(2)]
        >>> update = pyburn.optim.swa_utils.get_ema_multi_avg_fn(decay=0.75)
        >>> update(averaged, [pyburn.ones(1), pyburn.ones(2)], 1)
        >>> averaged
        [tensor([0.2500]), tensor([0.2500, 0.2500])]
    """
    _check_decay("get_ema_multi_avg_fn", decay)

    @no_grad
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: Any) -> None:
        for old, new in zip(averaged, current, strict=True):
            _approach(old, new, 1 - decay)

    return update


def get_swa_avg_fn() -> Averaging:
    r"""The mean of one tensor over all updates.

    .. math:: w' = w + \frac{w_{model} - w}{n + 1}

    Example:
        >>> average = pyburn.optim.swa_utils.get_swa_avg_fn()
        >>> average(pyburn.zeros(1), pyburn.ones(1), 3)
        tensor([0.2500])
    """

    @no_grad
    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        return averaged + (current - averaged) / (num_averaged + 1)

    return average


def get_swa_multi_avg_fn() -> MultiAveraging:
    """The mean of many tensors over all updates, written over them.

    Example:
        >>> averaged = [pyburn.zeros(1)]
        >>> pyburn.optim.swa_utils.get_swa_multi_avg_fn()(averaged, [pyburn.ones(1)], 3)
        >>> averaged
        [tensor([0.2500])]
    """

    @no_grad
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: Any) -> None:
        weight = 1 / (int(num_averaged) + 1)
        for old, new in zip(averaged, current, strict=True):
            _approach(old, new, weight)

    return update


def _check_decay(name: str, decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"{name}: invalid decay value {decay} provided; please provide a value in [0,1] range"
        )


def _approach(averaged: Tensor, current: Tensor, weight: float) -> None:
    """Move an average towards a value; counts, which are integers, are cut to integers."""
    if averaged.is_floating_point() or averaged.is_complex():
        averaged.lerp_(current, weight)
    else:
        averaged.copy_(averaged + (current - averaged) * weight)


class AveragedModel(Module):
    """A copy of a model whose weights are averages of the model's over training.

    The first :meth:`update_parameters` copies the weights, each later one averages: without a
    function equally (SWA), otherwise as the function says, such as :func:`get_ema_multi_avg_fn`.

    Args:
        model: The model; a copy of it is kept as ``module``.
        device: Where the copy lives.
        avg_fn: New average of one tensor.
        multi_avg_fn: The same for many tensors at once, written over them.
        use_buffers: Whether buffers are averaged too; otherwise they are copied.

    Example:
        >>> from pyburn.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
        >>> model = nn.Linear(2, 1)
        >>> ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
        >>> ema.update_parameters(model)
        >>> bool((ema.module.weight == model.weight).all())
        True
    """

    n_averaged: Tensor
    module: Module

    def __init__(
        self,
        model: Module,
        device: DeviceLike | None = None,
        avg_fn: Averaging | None = None,
        multi_avg_fn: MultiAveraging | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            # PyTorch raises this class, and its users catch it.
            raise AssertionError(
                "AveragedModel: only one of avg_fn and multi_avg_fn should be provided"
            )
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", pyburn.tensor(0, dtype=pyburn.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the weights of a model into the averages."""
        averaged, current = list(self.module.parameters()), list(model.parameters())
        old, new = list(self.module.buffers()), list(model.buffers())
        if self.use_buffers:
            averaged, current, old, new = averaged + old, current + new, [], []
        for name, own, theirs in (("parameters", averaged, current), ("buffers", old, new)):
            if len(own) != len(theirs):
                raise ValueError(
                    f"AveragedModel.update_parameters: expected a model with {len(own)} {name}, as "
                    f"the averaged one has, got one with {len(theirs)}"
                )
        moved = [
            tensor.detach().to(own.device) for own, tensor in zip(averaged, current, strict=True)
        ]
        averaged = [tensor.detach() for tensor in averaged]
        if int(self.n_averaged) == 0:
            for own, tensor in zip(averaged, moved, strict=True):
                own.copy_(tensor)
        elif self.multi_avg_fn is not None:
            for owned, tensors in _by_kind(averaged, moved):
                self.multi_avg_fn(owned, tensors, self.n_averaged.to(owned[0].device))
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for own, tensor in zip(averaged, moved, strict=True):
                own.copy_(average(own, tensor, self.n_averaged.to(own.device)))
        for own, buffer in zip(old, new, strict=True):
            own.detach().copy_(buffer.detach().to(own.device))
        self.n_averaged.add_(1)


def _by_kind(
    averaged: Sequence[Tensor], current: Sequence[Tensor]
) -> Iterable[tuple[list[Tensor], list[Tensor]]]:
    """Pairs of tensors sorted by where they lie and what they hold."""
    kinds: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
    for old, new in zip(averaged, current, strict=True):
        olds, news = kinds.setdefault((old.device, old.dtype), ([], []))
        olds.append(old)
        news.append(new)
    return kinds.values()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: DeviceLike | None = None) -> None:
    """Compute the statistics of a model's batch normalisations anew, from all the batches.

    Averaged weights never saw data, so their statistics fit no data. Each batch counts equally.

    Args:
        loader: Batches: tensors, or lists and tuples whose first item is what the model takes.
        model: The model, in which only the statistics change.
        device: Where the batches are moved first.

    Example:
        >>> model = nn.BatchNorm1d(1, affine=False)
        >>> pyburn.optim.swa_utils.update_bn([pyburn.tensor([[1.0], [3.0]])], model)
        >>> model.running_mean, model.running_var
        (tensor([2.]), tensor([2.]))
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    try:
        model.train()
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        for batch in loader:
            data = batch[0] if isinstance(batch, list | tuple) else batch
            model(data if device is None else data.to(device))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    r"""The rates go from where they are to ``swa_lr`` in ``anneal_epochs`` steps, and stay there.

    .. math:: \eta_t = \alpha \eta_{swa} + (1 - \alpha) \eta_0, \quad
        \alpha = \tfrac{1}{2}\left(1 - \cos \frac{\pi t}{n}\right) \text{ or } \frac{t}{n}

    Args:
        swa_lr: The rate to go to, or a list of one for each group.
        anneal_epochs: Steps that it takes.
        anneal_strategy: The form of the way: ``"cos"`` or ``"linear"``.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.optim.swa_utils.SWALR(optimizer, 0.5, 2, "linear")
        >>> rates = schedule.get_last_lr()
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates += schedule.get_last_lr()
        >>> rates
        [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(
            optimizer.param_groups, per_group("swa_lr", optimizer, swa_lr), strict=True
        ):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "SWALR: anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"SWALR: anneal_epochs must be an integer equal or greater than 0, got "
                f"{anneal_epochs}"
            )
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        # Steps are counted, not epochs: an optimizer that has run under another schedule, and
        # been resumed with it, begins here at zero.
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates: list[Rate] = []
        for group in self.optimizer.param_groups:
            # Where the way began, seen from where it has come to: others may have changed the rate.
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates

    def _part(self, step: int) -> float:
        """How much of the way lies behind after so many steps."""
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

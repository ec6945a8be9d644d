"""Gradients of float16 models: scaled, so that small ones do not vanish."""

from __future__ import annotations

import enum
import math
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import pyburn
from pyburn import backend
from pyburn._core import Tensor
from pyburn.autograd import no_grad

if TYPE_CHECKING:
    from pyburn.optim import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """How far an optimizer has come since the last :meth:`GradScaler.update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """How far one optimizer has come, and whether its gradients were finite."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.broken: bool | None = None


class GradScaler:
    """Multiplies losses, so that gradients in float16 do not vanish, and divides gradients again.

    The factor is found by trying: where a gradient is infinite or NaN the optimizer's step is left
    out and the factor shrinks; after a while without, it grows. bfloat16 has the range of float32
    and needs no scaling.

    Args:
        device: The kind of device the gradients are on. Where there is none, scaling is off, with a
            warning.
        init_scale: The first factor.
        growth_factor: What the factor is multiplied by when it grows.
        backoff_factor: What it is multiplied by when a gradient was not finite.
        growth_interval: How many steps in a row must be taken for it to grow.
        enabled: False makes every method pass on what it is given.

    Example:
        >>> weight = pyburn.ones(2, requires_grad=True)
        >>> optimizer = pyburn.optim.SGD([weight], lr=0.5)
        >>> scaler = pyburn.amp.GradScaler("cpu", init_scale=1024.0)
        >>> scaler.scale(weight.sum()).backward()
        >>> weight.grad
        tensor([1024., 1024.])
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> weight.detach(), weight.grad
        (tensor([0.5000, 0.5000]), tensor([1., 1.]))
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = pyburn.device(device).type
        if enabled and not backend.is_available(device):
            warnings.warn(
                f"GradScaler: is enabled, but {device} is not available. Disabling", stacklevel=2
            )
            enabled = False
        self._enabled = enabled
        if enabled:
            _check("growth_factor must be > 1.0", growth_factor > 1.0, growth_factor)
            _check("backoff_factor must be < 1.0", backoff_factor < 1.0, backoff_factor)
        self._init_scale = init_scale
        self._init_growth_tracker = 0
        # Made by the first call of scale, where the outputs are: a tensor of float32, so that
        # halves without dimensions are scaled in float32.
        self._scale: Tensor | None = None
        self._growth_tracker = 0
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._optimizers: dict[int, _Progress] = {}

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: list[Tensor]) -> list[Tensor]: ...
    @overload
    def scale(self, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]: ...
    @overload
    def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...
    def scale(self, outputs: Any) -> Any:
        """A loss, or several in a nest of lists and tuples, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = pyburn.full(
                    (), self._init_scale, dtype=pyburn.float32, device=outputs.device
                )
                self._growth_tracker = self._init_growth_tracker
            return outputs * self._scale.to(outputs.device)
        if not isinstance(outputs, Iterable):
            raise ValueError(
                "GradScaler.scale: outputs must be a Tensor or an iterable of Tensors, got "
                f"{type(outputs).__name__}"
            )
        if isinstance(outputs, list | tuple):
            return type(outputs)(self.scale(item) for item in outputs)
        return map(self.scale, outputs)

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the factor.

        :meth:`step` does it, unless this has been called: to clip gradients, for example.
        """
        if not self._enabled:
            return
        scale = self._made("unscale_")
        progress = self._progress(optimizer)
        if progress.stage is OptState.UNSCALED:
            raise RuntimeError(
                "GradScaler.unscale_: unscale_() has already been called on this optimizer since "
                "the last update()"
            )
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("GradScaler.unscale_: unscale_() is being called after step()")
        progress.broken = _unscale(optimizer, 1.0 / scale.item())
        progress.stage = OptState.UNSCALED

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step with the gradients divided; left out where one was not finite.

        Gives what the optimizer's step gives, ``None`` where it is left out. Further arguments are
        passed on; a closure is not supported, as its gradients would not be divided.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or any(callable(argument) for argument in args):
            raise RuntimeError(
                "GradScaler.step: closure use is not currently supported if GradScaler is enabled"
            )
        self._made("step")
        progress = self._progress(optimizer)
        if progress.stage is OptState.STEPPED:
            raise RuntimeError(
                "GradScaler.step: step() has already been called since the last update()"
            )
        if progress.stage is OptState.READY:
            self.unscale_(optimizer)
        _check(
            "no inf checks were recorded for this optimizer: it has no gradients",
            progress.broken is not None,
        )
        progress.stage = OptState.STEPPED
        return None if progress.broken else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the factor; to be called once per iteration, after the steps of all optimizers.

        Args:
            new_scale: The new factor; otherwise it shrinks, grows or stays as the gradients were.
        """
        if not self._enabled:
            return
        scale = self._made("update")
        if new_scale is None:
            found = [
                progress.broken
                for progress in self._optimizers.values()
                if progress.broken is not None
            ]
            _check("no inf checks were recorded prior to update", bool(found))
            self._adapt(scale, any(found))
        elif isinstance(new_scale, Tensor):
            _check(
                "new_scale should be a float or a tensor of one element without requires_grad",
                new_scale.numel() == 1 and not new_scale.requires_grad,
            )
            scale.fill_(float(new_scale))
        else:
            scale.fill_(new_scale)
        self._optimizers = {}

    def _adapt(self, scale: Tensor, broken: bool) -> None:
        if broken:
            scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = scale * self._growth_factor
            # Beyond the largest float32 every gradient would be lost.
            if math.isfinite(grown.item()):
                scale.copy_(grown)
            self._growth_tracker = 0

    def _made(self, name: str) -> Tensor:
        _check(
            f"attempted {name} but the scale is None; this may indicate your script did not use "
            "scaler.scale(loss or outputs) earlier in the iteration",
            self._scale is not None,
        )
        return self._scale  # type: ignore[return-value]

    def _progress(self, optimizer: Optimizer) -> _Progress:
        return self._optimizers.setdefault(id(optimizer), _Progress())

    def get_scale(self) -> float:
        """The factor; 1 where scaling is off."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale) if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the factor is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the factor is multiplied by when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the factor is multiplied by when a gradient was not finite."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the factor is multiplied by when a gradient was not finite."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many steps in a row must be taken for the factor to grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many steps in a row must be taken for the factor to grow."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._scale is None else self._growth_tracker

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The factor and how it changes; empty where scaling is off.

        Take it after :meth:`update`: what happens within an iteration is no part of it.
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on with what another scaler's :meth:`state_dict` says, unless scaling is off."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "GradScaler.load_state_dict: the source state dict is empty, possibly because it "
                "was saved from a disabled instance of GradScaler"
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if self._enabled:
            _check(
                "a GradScaler may only be pickled at the beginning of an iteration, or at the end "
                "after scaler.update()",
                not self._optimizers,
            )
            # The tensor is made again, on the device that the outputs will be on then.
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = None
        return state


def _check(what: str, fine: bool, got: object = None) -> None:
    """Raise the class that PyTorch raises of a wrong use of its scaler."""
    if not fine:
        raise AssertionError(f"GradScaler: {what}" + ("" if got is None else f", got {got}"))


@no_grad()
def _unscale(optimizer: Optimizer, factor: float) -> bool | None:
    """Multiply all gradients; says whether one was not finite, ``None`` if there is none."""
    grads = [
        parameter.grad
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    ]
    if any(grad.dtype == pyburn.float16 for grad in grads):
        raise ValueError(
            "GradScaler.unscale_: attempting to unscale FP16 gradients; hint: keep the weights in "
            "float32 and let autocast convert them"
        )
    found: dict[Any, list[Tensor]] = {}
    for grad in grads:
        found.setdefault(grad.device, []).append(grad.isfinite().all())
        grad.mul_(factor)
    if not grads:
        return None
    # One wait for each device, not for each gradient.
    return not all(pyburn.stack(finite).all().item() for finite in found.values())

"""Switches of autograd, as ``with`` blocks and as decorators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pyburn import _core

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "detect_anomaly",
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])

_GENERATOR = 0x20  # inspect.CO_GENERATOR, without importing inspect

is_grad_enabled = _core.is_grad_enabled
is_inference_mode_enabled = _core.is_inference_mode_enabled


def _is_generator(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    return bool(getattr(getattr(function, "__code__", None), "co_flags", 0) & _GENERATOR)


class _Mode:
    """A context manager that also decorates functions and generators."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        raise NotImplementedError

    def clone(self) -> _Mode:
        """A fresh instance with the same arguments: decorated functions may call themselves."""
        return type(self)()

    def __call__(self, function: F) -> F:
        if isinstance(function, type):
            raise TypeError(
                f"{type(self).__name__}: decorates functions, got the class {function.__name__}; "
                "hint: decorate its methods"
            )
        if _is_generator(function):
            return self._around_generator(function)

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated  # type: ignore[return-value]

    def _around_generator(self, function: Any) -> Any:
        """The mode holds while the generator runs and not while its caller does."""

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **kwargs)
            try:
                with self.clone():
                    item = generator.send(None)
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as fault:
                        with self.clone():
                            item = generator.throw(fault)
                    else:
                        with self.clone():
                            item = generator.send(sent)
            except StopIteration as stop:
                return stop.value

        return decorated


class _SwitchMode(_Mode):
    """A mode that may decorate without parentheses."""

    enabled: bool

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: F) -> F: ...
    def __new__(cls, function: Any = None) -> Any:
        if function is None:
            return super().__new__(cls)
        return cls()(function)

    def __init__(self, function: Any = None) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_core._set_grad_enabled(self.enabled))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core._set_grad_enabled(self._before.pop())


class no_grad(_SwitchMode):
    """Nothing is recorded for gradients.

    Example:
        >>> x = pyburn.ones(2, requires_grad=True)
        >>> with pyburn.no_grad():
        ...     (x * 2).requires_grad
        False
    """

    enabled = False


class enable_grad(_SwitchMode):
    """Operations are recorded for gradients again, within a ``no_grad`` block."""

    enabled = True


class set_grad_enabled(_Mode):
    """Recording on or off: at once, for the rest of the thread or until the block ends.

    Example:
        >>> with pyburn.set_grad_enabled(False):
        ...     pyburn.is_grad_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self.prev = _core._set_grad_enabled(self.mode)

    def __call__(self, function: F) -> F:
        # As a decorator it concerns the function only.
        _core._set_grad_enabled(self.prev)
        return super().__call__(function)

    def __enter__(self) -> None:
        _core._set_grad_enabled(self.mode)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core._set_grad_enabled(self.prev)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


class inference_mode(_Mode):
    """Like ``no_grad`` for code whose results never take part in autograd.

    Example:
        >>> x = pyburn.ones(2, requires_grad=True)
        >>> with pyburn.inference_mode():
        ...     (x * 2).requires_grad
        False
    """

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: F) -> F: ...
    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        grad = _core._set_grad_enabled(not self.mode)
        self._before.append((grad, _core._set_inference_mode(self.mode)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        grad, inference = self._before.pop()
        _core._set_grad_enabled(grad)
        _core._set_inference_mode(inference)

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)


def _check_nan(op: str, check_nan: bool) -> None:
    if not check_nan:
        raise NotImplementedError(
            f"{op}: check_nan=False is not available: anomaly mode looks for NaN whenever it is on"
        )


class detect_anomaly(_Mode):
    """Backward names the forward call that made a NaN gradient.

    Example:
        >>> x = pyburn.tensor([-1.0], requires_grad=True)
        >>> with pyburn.autograd.detect_anomaly():
        ...     x.sqrt().sum().backward()
        Traceback (most recent call last):
        RuntimeError: SqrtBackward0: returned nan values in its 0th output...
    """

    def __init__(self, check_nan: bool = True) -> None:
        _check_nan("detect_anomaly", check_nan)
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_core._set_anomaly(True))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core._set_anomaly(self._before.pop())


class set_detect_anomaly(_Mode):
    """Anomaly mode on or off: at once, for the rest of the thread or until the block ends."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if mode:
            _check_nan("set_detect_anomaly", check_nan)
        self.mode = mode
        self.prev = _core._set_anomaly(mode)

    def __enter__(self) -> None:
        _core._set_anomaly(self.mode)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core._set_anomaly(self.prev)

    def clone(self) -> set_detect_anomaly:
        return set_detect_anomaly(self.mode)

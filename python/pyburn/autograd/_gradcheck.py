"""Gradients compared with differences of function values."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.autograd import grad as _grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient that differs from what differences of function values say."""


def _tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _differentiable(given: Any) -> tuple[Tensor, ...]:
    return tuple(item for item in _tuple(given) if isinstance(item, Tensor) and item.requires_grad)


def _checked_inputs(op: str, given: Any) -> tuple[Any, ...]:
    inputs = _tuple(given)
    if not any(isinstance(item, Tensor) and item.requires_grad for item in inputs):
        raise ValueError(
            f"{op} expects at least one input tensor to require gradient, but none of the them "
            "have requires_grad=True."
        )
    wide = (_core.dtype("float64"), _core.dtype("complex128"))
    for index, item in enumerate(inputs):
        if not isinstance(item, Tensor) or not item.requires_grad:
            continue
        if item.dtype not in wide:
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=3,
            )
        if any(
            stride == 0 and size > 1 for stride, size in zip(item.stride(), item.shape, strict=True)
        ):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    return inputs


def _values(tensor: Tensor) -> Any:
    """The elements as a flat array."""
    import numpy as np

    return np.asarray(tensor.detach().to("cpu").reshape(-1).numpy()).copy()


def _numerical(
    function: Callable[..., Any], inputs: tuple[Any, ...], item: Tensor, eps: float
) -> list[Any]:
    """Per output: the matrix of derivatives by differences, one row per element of `item`.

    Outputs and inputs may be complex: a row then holds the derivative by the real part plus `1j`
    times that by the imaginary part, for the real and for the imaginary part of each output.
    """
    import numpy as np

    values = item.detach()  # writes show in `item`, whose history they leave alone

    def outputs() -> list[Any]:
        return [_values(out) for out in _differentiable(function(*inputs))]

    def difference(place: tuple[int, ...], step: complex | float) -> list[Any]:
        before = values[place].item()
        values[place] = before + step
        upper = outputs()
        values[place] = before - step
        lower = outputs()
        values[place] = before
        return [(a - b) / (2 * eps) for a, b in zip(upper, lower, strict=True)]

    rows: list[list[Any]] = []
    for place in itertools.product(*map(range, item.shape)):
        real = difference(place, eps)
        parts = [(part.real, part.imag) for part in real]
        if item.is_complex():
            imag = difference(place, 1j * eps)
            parts = [
                (a[0] + 1j * b.real, a[1] + 1j * b.imag) for a, b in zip(parts, imag, strict=True)
            ]
        rows.append(parts)
    count = len(rows[0]) if rows else 0
    return [
        tuple(np.array([row[index][part] for row in rows]) for part in (0, 1))
        for index in range(count)
    ]


def _analytical(out: Tensor, inputs: Sequence[Tensor], part: complex) -> list[Any]:
    """Per input: the same matrix by backward, for the real (`1`) or imaginary (`1j`) part."""
    import numpy as np

    columns: list[list[Any]] = [[] for _ in inputs]
    for place in itertools.product(*map(range, out.shape)):
        seed = _core._full(list(out.shape), 0, out.dtype, out.device)
        seed[place] = part if out.is_complex() else 1.0
        grads = _grad([out], inputs, [seed], retain_graph=True, allow_unused=True)
        for column, grad, item in zip(columns, grads, inputs, strict=True):
            if grad is None:
                grad = _core._full(list(item.shape), 0, item.dtype, item.device)
            elif grad.shape != item.shape:
                raise GradcheckError(
                    f"Analytical gradient has incorrect size: {list(grad.shape)}, expected "
                    f"{list(item.shape)}"
                )
            column.append(_values(grad))
    return [
        np.array(column).T if column else np.zeros((item.numel(), 0))
        for column, item in zip(columns, inputs, strict=True)
    ]


def _mismatch(found: Any, expected: Any, output: int, at: int, complex_part: str | None) -> str:
    part = (
        f"While considering the {complex_part} part of complex outputs only, "
        if complex_part
        else ""
    )
    return (
        f"{part}Jacobian mismatch for output {output} with respect to input {at},\n"
        f"numerical:{expected}\nanalytical:{found}\n"
    )


def _check(
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_grad_dtypes: bool,
) -> None:
    import numpy as np

    places = [
        at for at, item in enumerate(inputs) if isinstance(item, Tensor) and item.requires_grad
    ]
    tracked = [inputs[at] for at in places]
    expected = [_numerical(function, inputs, item, eps) for item in tracked]
    outputs = _differentiable(function(*inputs))
    if not outputs:
        plain = [item for item in _tuple(function(*inputs)) if isinstance(item, Tensor)]
        if any(out.is_floating_point() or out.is_complex() for out in plain):
            raise ValueError(
                "gradcheck expects the function to return a tensor that requires gradient; it "
                "does not depend on the inputs in a differentiable way"
            )
        return
    for index, out in enumerate(outputs):
        parts = [(0, 1.0, "real"), (1, 1j, "imaginary")] if out.is_complex() else [(0, 1.0, None)]
        for part, seed, name in parts:
            found = _analytical(out, tracked, seed)
            again = _analytical(out, tracked, seed)
            for at, matrix, repeated, numeric in zip(places, found, again, expected, strict=True):
                if not matrix.size:
                    continue
                wanted = numeric[index][part]
                if not np.allclose(matrix, wanted, rtol=rtol, atol=atol):
                    raise GradcheckError(_mismatch(matrix, wanted, index, at, name))
                if np.abs(matrix - repeated).max() > nondet_tol:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and "
                        "grad_output multiple times gives different values, although analytical "
                        "gradient matches numerical gradient.The tolerance for nondeterminism was "
                        f"{nondet_tol}."
                    )
        if check_grad_dtypes:
            ones = _core._full(list(out.shape), 1, out.dtype, out.device)
            grads = _grad([out], tracked, [ones], retain_graph=True, allow_unused=True)
            for item, grad in zip(tracked, grads, strict=True):
                if grad is not None and grad.dtype != item.dtype:
                    raise GradcheckError(
                        f"Expected gradient of dtype {item.dtype}, got {grad.dtype}"
                    )


def _refuse(op: str, **wanted: bool) -> None:
    for name, value in wanted.items():
        if value:
            raise NotImplementedError(
                f"{op}: {name}=True is not available: there are no forward-mode and no batched "
                "gradients"
            )


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare gradients with differences of function values, element by element.

    ``fast_mode`` gives the same answer as the full check, which is what runs.
    ``check_undefined_grad`` has nothing to look at: the engine hands rules zeros, never undefined
    gradients, unless a function asks for them by ``set_materialize_grads(False)``.

    Example:
        >>> x = pyburn.tensor([0.3, 0.7], dtype=pyburn.float64, requires_grad=True)
        >>> pyburn.autograd.gradcheck(lambda x: x.sin(), (x,))
        True
    """
    _refuse(
        "gradcheck",
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        masked=bool(masked),
    )
    if not check_backward_ad:
        raise ValueError("Expected either check_forward_ad or check_backward_ad to be True")
    try:
        checked = _checked_inputs("gradcheck", inputs)
        _check(func, checked, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare gradients of gradients with differences of gradients.

    Example:
        >>> x = pyburn.tensor([0.3, 0.7], dtype=pyburn.float64, requires_grad=True)
        >>> pyburn.autograd.gradgradcheck(lambda x: x.sin(), (x,))
        True
    """
    _refuse("gradgradcheck", check_fwd_over_rev=check_fwd_over_rev)
    given = _checked_inputs("gradgradcheck", inputs)
    if grad_outputs is None:
        outputs = _differentiable(func(*given))
        seeds = tuple(_random_like(out, gen_non_contig_grad_outputs) for out in outputs)
    else:
        seeds = _tuple(grad_outputs)
    count = len(seeds)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        own = args[: len(args) - count]
        outputs = _differentiable(func(*own))
        tracked = [item for item in own if isinstance(item, Tensor) and item.requires_grad]
        grads = _grad(
            outputs, tracked, list(args[len(args) - count :]), create_graph=True, allow_unused=True
        )
        return tuple(grad for grad in grads if grad is not None)

    return gradcheck(
        gradients,
        (*given, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_like(tensor: Tensor, strided: bool) -> Tensor:
    """Normal numbers in a tensor's shape and dtype."""
    import numpy as np

    generator = np.random.default_rng()
    shape = tuple(tensor.shape) + ((2,) if strided else ())
    values = generator.standard_normal(shape)
    if tensor.is_complex():
        values = values + 1j * generator.standard_normal(shape)
    seed = _core.tensor(values, dtype=tensor.dtype, device=tensor.device)
    if strided:
        seed = _core.select(seed, -1, 0)
    return seed.requires_grad_(True)

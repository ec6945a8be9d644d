"""One sample put to torch and to the package under test: forward, backward, error.

A check returns when the two agree, raises `NotApplicable` when torch itself has nothing to say
about the sample, and raises anything else when the package fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from .carry import Carrier, NotCarried
from .compare import Judge, Mismatch
from .gauge import INVARIANTS
from .library import Library, Missing, MissingConstant
from .rebind import Rebinder
from .tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.testing._internal.opinfo.core import ErrorInput, SampleInput

    from .variants import Variant

TORCH = Library("torch")

RANDOM = {
    "bernoulli",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "uniform",
}
"""Operators whose values are drawn: only shape and dtype can be compared."""

FAMILIES = (IndexError, TypeError, ValueError, RuntimeError)
"""Classes of error that user code tells apart; any other declared class only means "an error"."""

LACKING = (AttributeError, Missing, NotImplementedError)
"""What the package lacks must not pass for what it refuses."""


class NotApplicable(Exception):
    """Torch itself refuses the sample, or the check does not exist for it."""


@dataclass(frozen=True)
class Subject:
    """An entry of the database, on its way through the checks of one library."""

    name: str
    library: Library
    tolerance: Tolerance = field(default_factory=Tolerance)
    compare_values: bool = True


@dataclass
class Call:
    """One variant of an operator called on one sample by one library."""

    library: Library
    variant: Variant
    sample: SampleInput
    track: bool = False
    widen: bool = False

    @cached_property
    def carrier(self) -> Carrier:
        """What brings the arguments over; it knows the tensors that want a gradient."""
        return Carrier(self.library, track=self.track, widen=self.widen)

    @cached_property
    def arguments(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The sample's arguments in the library."""
        sample, carry = self.sample, self.carrier
        return carry(sample.input), carry(sample.args), carry(sample.kwargs)

    def run(self) -> Any:
        """The result as the library gives it."""
        first, rest, named = self.arguments
        if self.track and self.variant.inplace:
            # A leaf that wants a gradient cannot be written to; its copy can.
            first = first.clone()
        return self.variant.of(self.library)(first, *rest, **named)


def forward(subject: Subject, variant: Variant, sample: SampleInput) -> None:
    """The result has torch's kind, shape, dtype, values and field names."""
    reference = Call(TORCH, variant, sample)
    expected = _reference(reference, subject, variant, sample)
    call = Call(subject.library, variant, sample)
    actual = call.run()
    for name in _field_names(expected):
        if not hasattr(actual, name):
            raise Mismatch(f"the result has no field `{name}`")
    if variant.inplace and expected is reference.arguments[0] and actual is not call.arguments[0]:
        raise Mismatch("an in-place call must return the very tensor it was called on")

    def in_float64() -> Any:
        return _comparable(subject, TORCH.read(Call(TORCH, variant, sample, widen=True).run()))

    judge = Judge(subject.tolerance, values=subject.compare_values, in_float64=in_float64)
    read = subject.library.read(actual)
    if subject.name in INVARIANTS:
        # The factors themselves may differ, but not in shape and dtype.
        Judge(subject.tolerance, values=False)(read, TORCH.read(expected))
    judge(_comparable(subject, read), _comparable(subject, TORCH.read(expected)))


def backward(subject: Subject, variant: Variant, sample: SampleInput) -> None:
    """Every input has torch's gradient, for equal random cotangents of every output."""
    try:
        reference = Call(TORCH, variant, sample, track=True)
        outputs = _outputs(reference)
        tracked = [i for i, output in enumerate(outputs) if _tracks(output)]
        if not tracked:
            raise NotApplicable("no result depends on an input that wants a gradient")
        seeds = _cotangents([outputs[i] for i in tracked])
        expected = _gradients(reference, [outputs[i] for i in tracked], seeds)
    except NotApplicable:
        raise
    except Exception as refusal:
        raise NotApplicable(f"torch: {refusal}") from refusal

    call = Call(subject.library, variant, sample, track=True)
    found = _outputs(call)
    if len(found) != len(outputs):
        raise Mismatch(f"{len(found)} results where torch has {len(outputs)}")
    for i in tracked:
        if not _tracks(found[i]):
            raise Mismatch(f"result {i} does not require a gradient")
    actual = _gradients(call, [found[i] for i in tracked], seeds)

    def in_float64() -> Any:
        wide = Call(TORCH, variant, sample, track=True, widen=True)
        wide_outputs = [output for output in _outputs(wide) if _tracks(output)]
        return _dense(_gradients(wide, wide_outputs, seeds), expected)

    judge = Judge(subject.tolerance, in_float64=in_float64, values=subject.compare_values)
    judge(_dense(actual, expected), _dense(expected, actual))


def error(subject: Subject, variant: Variant, case: ErrorInput) -> None:
    """The call is refused, with the class of error that torch declares for it."""
    try:
        Call(TORCH, variant, case.sample_input).run()
    except NotCarried as reason:
        raise NotApplicable(str(reason)) from reason
    except Exception as refusal:
        expected = refusal
    else:
        raise NotApplicable("torch accepts the sample once it has memory of its own")
    call = Call(subject.library, variant, case.sample_input)
    try:
        _must_refuse(call.run, expected, case.error_type)
    except MissingConstant as reason:
        # A call that cannot be written need not be refused.
        raise NotApplicable(str(reason)) from reason


def _reference(call: Call, subject: Subject, variant: Variant, sample: SampleInput) -> Any:
    """Torch's result; where torch refuses to work in place, the package must refuse as well."""
    try:
        return call.run()
    except NotCarried as reason:
        raise NotApplicable(str(reason)) from reason
    except Exception as refusal:
        if variant.inplace and not isinstance(refusal, TypeError):
            _must_refuse(Call(subject.library, variant, sample).run, refusal, Exception)
        raise NotApplicable(f"torch: {refusal}") from refusal


def _must_refuse(run: Callable[[], Any], expected: Exception, declared: Any) -> None:
    try:
        result = run()
    except LACKING:
        if not isinstance(expected, LACKING):
            raise
    except Exception as raised:
        if declared in FAMILIES and not isinstance(raised, declared):
            raise Mismatch(
                f"expected {declared.__name__}, got {type(raised).__name__}: {raised}"
            ) from raised
    else:
        raise Mismatch(f"accepted, though torch raises {expected!r:.120}; got {result!r:.60}")


def _comparable(subject: Subject, read: Any) -> Any:
    invariants = INVARIANTS.get(subject.name)
    return list(invariants(read)) if invariants else read


def _outputs(call: Call) -> list[Any]:
    """The results to differentiate, flat: the sample says which they are."""
    select = Rebinder(call.library)(call.sample.output_process_fn_grad)
    return list(_flat(select(call.run())))


def _flat(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _tracks(output: Any) -> bool:
    return bool(getattr(output, "requires_grad", False))


def _cotangents(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(output.shape, dtype=output.dtype, generator=generator) for output in outputs
    ]


def _gradients(call: Call, outputs: list[Any], seeds: list[torch.Tensor]) -> list[Any]:
    carry = Carrier(call.library, widen=call.widen)
    found = call.library.lookup("autograd.grad")(
        outputs, call.carrier.leaves, grad_outputs=carry(seeds), allow_unused=True
    )
    return call.library.read(list(found))


def _dense(gradients: list[Any], others: list[Any]) -> list[Any]:
    """`gradients` with zeros for None where the other side has a tensor.

    Whether an input without influence gets None or zeros is an accident of each formula in torch.
    """
    return [
        torch.zeros_like(other) if mine is None and other is not None else mine
        for mine, other in zip(gradients, others, strict=True)
    ]


def _field_names(result: Any) -> list[str]:
    """The names of the parts of a result such as that of `torch.max(x, 0)`."""
    if not isinstance(result, tuple) or type(result) in (tuple, torch.Size):
        return []
    members = vars(type(result)).items()
    return [name for name, member in members if type(member).__name__ == "member_descriptor"]

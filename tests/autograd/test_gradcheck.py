"""The checkers accept right gradients and catch wrong ones."""

import pyburn
import pytest
from pyburn.autograd import Function, gradcheck, gradgradcheck


def leaf(*values, dtype=pyburn.float64):
    return pyburn.tensor(list(values), dtype=dtype, requires_grad=True)


def wrong(factor):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * factor

    return Wrong.apply


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.sin() * x,
        lambda x: x.view(2, 2) @ x.view(2, 2).t(),
        lambda x: x.softmax(0),
        lambda x: (x[:2], x[2:] ** 2),
        lambda x: x.clone().mul_(x).sum(),
    ],
)
def test_right_gradients_pass(f):
    x = leaf(0.3, -1.2, 2.0, 0.7)
    assert gradcheck(f, (x,))
    assert gradgradcheck(f, (x,))


def test_a_wrong_gradient_is_caught():
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(wrong(2.01), (leaf(1.0, 3.0),))
    assert gradcheck(wrong(2.01), (leaf(1.0, 3.0),), raise_exception=False) is False
    assert gradcheck(wrong(2.0), (leaf(1.0, 3.0),))


def test_a_wrong_second_gradient_is_caught():
    class Bent(Function):
        """Right once, wrong twice: its backward hides its dependence on the argument."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x.detach() ** 2

    x = leaf(1.5, 2.0)
    assert gradcheck(Bent.apply, (x,))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradgradcheck(Bent.apply, (x,))


def test_only_arguments_that_want_gradients_are_checked():
    assert gradcheck(lambda x, y, n: x * y * n, (leaf(1.0), pyburn.ones(1).double(), 3))
    with pytest.raises(ValueError, match="require"):
        gradcheck(lambda x: x, (pyburn.ones(1).double(),))


def test_complex_functions():
    z = pyburn.tensor([1 + 2j, -0.5 + 1j], dtype=pyburn.complex128, requires_grad=True)
    assert gradcheck(lambda z: z * z, (z,))
    assert gradcheck(lambda z: z.abs(), (z,))
    assert gradcheck(lambda z: z.real * z.imag, (z,))

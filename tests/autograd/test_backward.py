"""`backward`: what it adds where, and when it refuses."""

import numpy as np
import pyburn
import pytest


def leaf(*values, **kwargs):
    return pyburn.tensor(list(values), requires_grad=True, **kwargs)


def test_gradients_add_up_until_they_are_cleared():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [5, 7]
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_gradient_given():
    x = leaf(1.0, 2.0)
    (x * x).backward(gradient=pyburn.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2, 40]
    with pytest.raises(RuntimeError, match=r"shape.*\[3\]"):
        (x * x).backward(pyburn.ones(3))
    with pytest.raises(RuntimeError, match="scalar outputs"):
        (x * x).backward()


def test_one_element_needs_no_gradient():
    x = leaf(3.0)
    (x * x).backward()
    assert x.grad.tolist() == [6]


def test_several_uses_add_up():
    x = leaf(2.0)
    y = x * x
    (y + y * y + x).sum().backward()
    # d(x^2 + x^4 + x)
    assert x.grad.tolist() == [4 + 32 + 1]


def test_a_graph_is_used_once_unless_retained():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_only_named_inputs_get_gradients():
    x, y = leaf(2.0), leaf(5.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [5]
    assert y.grad is None
    z = x * y
    (z * z).sum().backward(inputs=z)
    assert z.grad.tolist() == [20]
    assert x.grad.tolist() == [5]
    with pytest.raises(RuntimeError, match="empty"):
        (x * y).sum().backward(inputs=[])


def test_the_function_takes_several_outputs():
    x = leaf(2.0)
    pyburn.autograd.backward([(x * 3).sum(), x * x], [None, pyburn.tensor([10.0])])
    assert x.grad.tolist() == [43]


def test_without_a_history_there_is_nothing_to_do():
    with pytest.raises(RuntimeError, match="does not require grad"):
        pyburn.ones(1).backward()
    x = leaf(1.0)
    with pyburn.no_grad():
        y = x * 2
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.backward()


def test_a_leaf_by_itself():
    x = leaf(1.0)
    x.backward()
    assert x.grad.tolist() == [1]


def test_create_graph_keeps_the_gradient_differentiable():
    x = leaf(2.0)
    (x**3).sum().backward(create_graph=True)
    assert x.grad.requires_grad
    first = x.grad
    x.grad = None
    first.sum().backward()
    assert x.grad.tolist() == [12]


def test_gradients_have_the_dtype_and_shape_of_the_leaf():
    x = pyburn.ones(2, 1, dtype=pyburn.float64, requires_grad=True)
    y = pyburn.ones(3, requires_grad=True)
    (x * y).sum().backward()
    assert (x.grad.dtype, x.grad.shape) == (pyburn.float64, (2, 1))
    assert (y.grad.dtype, y.grad.shape) == (pyburn.float32, (3,))
    assert x.grad.tolist() == [[3], [3]]


def test_conversions_carry_gradients():
    x = pyburn.ones(2, dtype=pyburn.float16, requires_grad=True)
    (x.double() * 3).sum().backward()
    assert x.grad.dtype == pyburn.float16
    assert x.grad.tolist() == [3, 3]
    assert not x.long().requires_grad


def test_complex_gradients_are_conjugated_as_in_pytorch():
    z = pyburn.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), [2 + 4j, 6 - 2j])
    x = pyburn.tensor([2.0], requires_grad=True)
    (x * (1 + 1j)).abs().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [2**0.5], rtol=1e-6)
    with pytest.raises(RuntimeError, match="real scalar"):
        (z * z).sum().backward()


def test_the_steps_of_the_tape_can_be_looked_at():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert y.grad_fn.name() == "ExpBackward0"
    (inner, number), *_ = y.grad_fn.next_functions
    assert inner.name() == "MulBackward0"
    assert number == 0
    assert inner.next_functions[0][0].name() == "AccumulateGrad"
    assert inner.next_functions[0][0].variable is not None
    assert x.grad_fn is None
    assert x.is_leaf
    assert not y.is_leaf


def test_requires_grad_of_results():
    x, c = leaf(1.0), pyburn.ones(1)
    assert (x + c).requires_grad
    assert not (c + c).requires_grad
    assert not (x > 0).requires_grad
    assert not x.argmax().requires_grad
    y = x * 2
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    assert not y.detach().requires_grad
    assert x.requires_grad_(False).requires_grad is False


def test_the_grad_attribute_is_checked():
    x = leaf(1.0, 2.0)
    x.grad = pyburn.ones(2)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="shape"):
        x.grad = pyburn.ones(3)
    with pytest.raises(RuntimeError, match="dtype"):
        x.grad = pyburn.ones(2, dtype=pyburn.float64)
    with pytest.raises(TypeError):
        x.grad = 3


def test_accumulation_does_not_change_a_gradient_the_user_shares():
    x, y = leaf(1.0), leaf(1.0)
    seed = pyburn.tensor([1.0])
    (x + y).backward(seed)
    (x * 5).backward()
    assert seed.tolist() == [1]
    assert y.grad.tolist() == [1]
    assert x.grad.tolist() == [6]


def test_deep_graphs():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 0
    y.backward()
    assert x.grad.tolist() == [1]
    y = x * 1
    for _ in range(20_000):
        y = y * 1
    del y


def test_wide_graphs_share_a_node():
    """A doubling chain has 2^60 paths; the walk must look at each node once."""
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.tolist() == [2.0**60]


def test_a_net_by_hand_against_numpy():
    rng = np.random.default_rng(0)
    a, w1, w2 = (rng.normal(size=s) for s in ((5, 4), (4, 6), (6, 2)))
    ours = [pyburn.tensor(v, requires_grad=True) for v in (a, w1, w2)]
    hidden = (ours[0] @ ours[1]).relu()
    ((hidden @ ours[2]) ** 2).mean().backward()
    h = np.maximum(a @ w1, 0)
    out = h @ w2
    g_out = 2 * out / out.size
    g_h = (g_out @ w2.T) * (h > 0)
    for tensor, expected in zip(ours, (g_h @ w1.T, a.T @ g_h, h.T @ g_out), strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), expected, rtol=1e-10)

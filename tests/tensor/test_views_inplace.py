"""Views look at the base's memory: writes through either are seen by all, and by autograd."""

import numpy as np
import pyburn
import pytest


def arange(*shape, **kwargs):
    return pyburn.arange(1, 1 + int(np.prod(shape)), dtype=pyburn.float32, **kwargs).reshape(shape)


VIEWS = {
    "select": (lambda x: x[1], lambda a: a[1]),
    "slice": (lambda x: x[:, 1:3], lambda a: a[:, 1:3]),
    "step": (lambda x: x[::2, ::3], lambda a: a[::2, ::3]),
    "newaxis": (lambda x: x[None, :, None], lambda a: a[None, :, None]),
    "t": (lambda x: x.t(), lambda a: a.T),
    "T": (lambda x: x.T, lambda a: a.T),
    "transpose": (lambda x: x.transpose(0, -1), lambda a: a.swapaxes(0, -1)),
    "permute": (lambda x: x.permute(1, 0), lambda a: a.transpose(1, 0)),
    "view": (lambda x: x.view(2, 3, 4), lambda a: a.reshape(2, 3, 4)),
    "view -1": (lambda x: x.view(-1), lambda a: a.reshape(-1)),
    "reshape": (lambda x: x.reshape(6, 4), lambda a: a.reshape(6, 4)),
    "flatten": (lambda x: x.flatten(), lambda a: a.reshape(-1)),
    "unflatten": (lambda x: x.unflatten(1, (2, 2)), lambda a: a.reshape(6, 2, 2)),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    "squeeze": (lambda x: x[:1].squeeze(), lambda a: a[0]),
    "narrow": (lambda x: x.narrow(0, 2, 3), lambda a: a[2:5]),
    "diagonal": (
        lambda x: x.diagonal(1),
        lambda a: np.lib.stride_tricks.as_strided(a.ravel()[1:], (3,), (5 * a.itemsize,)),
    ),
    "chunk": (lambda x: x.chunk(2, 1)[1], lambda a: a[:, 2:]),
    "split": (lambda x: x.split([1, 5])[1], lambda a: a[1:]),
    "unbind": (lambda x: x.unbind(1)[2], lambda a: a[:, 2]),
    "movedim": (lambda x: x.movedim(0, 1), lambda a: np.moveaxis(a, 0, 1)),
    "unfold": (lambda x: x.unfold(0, 2, 2), lambda a: a.reshape(3, 2, 4).swapaxes(1, 2)),
    "as_strided": (lambda x: x.as_strided((2, 3), (4, 1), 1), lambda a: a[:2, 1:]),
    "detach": (lambda x: x.detach(), lambda a: a),
    "data": (lambda x: x.data, lambda a: a),
    "view_as": (lambda x: x.view_as(pyburn.empty(3, 8)), lambda a: a.reshape(3, 8)),
    "chain": (
        lambda x: x.view(2, 3, 4).permute(2, 0, 1)[1:, :, ::2].transpose(0, 1)[1],
        lambda a: a.reshape(2, 3, 4).transpose(2, 0, 1)[1:, :, ::2].swapaxes(0, 1)[1],
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shares_memory_both_ways(name):
    ours, theirs = VIEWS[name]
    x = arange(6, 4)
    a = x.numpy().copy()
    view, part = ours(x), theirs(a)
    np.testing.assert_array_equal(view.numpy(), part)
    assert view._shares_storage(x)
    view.mul_(-1)
    part *= -1
    np.testing.assert_array_equal(x.numpy(), a)
    x.add_(100)
    a += 100
    np.testing.assert_array_equal(view.numpy(), part)


@pytest.mark.parametrize("name", [n for n in VIEWS if n not in ("detach", "data")])
def test_a_write_through_a_view_changes_the_history_of_the_base(name):
    """The leaf doubled, a part then overwritten: no gradient reaches that part of the leaf."""
    ours, theirs = VIEWS[name]
    leaf = arange(6, 4).detach().requires_grad_()
    base = leaf * 2
    source = pyburn.ones((), requires_grad=True)
    ours(base).copy_(source * 3)
    base.sum().backward()
    expected = np.full((6, 4), 2, dtype=np.float32)
    theirs(expected)[...] = 0
    np.testing.assert_array_equal(leaf.grad.numpy(), expected)
    assert source.grad.item() == 3 * np.count_nonzero(expected == 0)


@pytest.mark.parametrize("name", [n for n in VIEWS if n not in ("detach", "data")])
def test_a_view_made_before_a_write_to_the_base_follows_it(name):
    ours, theirs = VIEWS[name]
    leaf = arange(6, 4).detach().requires_grad_()
    base = leaf * 1
    view = ours(base)
    base.mul_(5)
    (view * view).sum().backward()
    expected = np.zeros((6, 4), dtype=np.float32)
    part = theirs(expected)
    part[...] = theirs(arange(6, 4).numpy()) * 50
    np.testing.assert_allclose(leaf.grad.numpy(), expected)


def test_two_views_of_one_base_see_each_other():
    leaf = pyburn.ones(4, requires_grad=True)
    base = leaf * 1
    first, second = base[:3], base[1:]
    first.mul_(2)
    second.mul_(3)
    assert base.tolist() == [2, 6, 6, 3]
    (first.sum() + second.sum()).backward()
    # Elements 1 and 2 are in both views.
    assert leaf.grad.tolist() == [2, 12, 12, 3]


def test_views_of_views_of_views():
    leaf = pyburn.ones(2, 3, 4, requires_grad=True)
    base = leaf * 1
    inner = base[1].t()[2:].unsqueeze(0)[..., 1]
    inner.mul_(pyburn.tensor([[3.0, 7.0]]))
    base.sum().backward()
    expected = np.ones((2, 3, 4))
    expected[1, 1, 2:] = [3, 7]
    np.testing.assert_array_equal(leaf.grad.numpy(), expected)


def test_the_base_of_a_view():
    base = pyburn.zeros(4)
    view = base[1:][:2]
    assert view._is_view()
    assert view._base._is_same(base)
    assert base._base is None
    assert not pyburn.zeros(3, 2).t().reshape(6)._is_view()


def test_an_incompatible_view_is_refused_with_both_shapes():
    x = pyburn.zeros(3, 4).t()
    with pytest.raises(RuntimeError, match=r"view.*\[12\].*reshape"):
        x.view(12)
    with pytest.raises(RuntimeError, match=r"invalid for input of size 12"):
        pyburn.zeros(12).view(5)
    with pytest.raises(RuntimeError, match="only one dimension can be inferred"):
        pyburn.zeros(12).view(-1, -1)
    assert x.reshape(12).shape == (12,)


def test_bits_can_be_read_as_another_dtype():
    x = pyburn.tensor([1.0, -2.0])
    bits = x.view(pyburn.int32)
    assert bits.tolist() == [0x3F800000, 0xC0000000 - (1 << 32)]
    bits[0] = 0
    assert x.tolist() == [0.0, -2.0]
    z = pyburn.tensor([1 + 2j])
    pyburn.view_as_real(z)[0, 1] = 5
    assert z.tolist() == [1 + 5j]


def test_an_expanded_tensor_cannot_be_written():
    x = pyburn.zeros(1, 3).expand(2, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        x.add_(1)
    assert x.clone().add_(1).tolist() == [[1] * 3] * 2


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.__setitem__(0, 4.0),
        lambda x: x[0].zero_(),
        lambda x: x.copy_(pyburn.zeros(3)),
        lambda x: x.view(3).mul_(2),
    ],
)
def test_a_leaf_that_wants_a_gradient_cannot_be_written(write):
    x = pyburn.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf variable that requires grad"):
        write(x)
    assert x.tolist() == [1, 1, 1]
    with pyburn.no_grad():
        write(x)
    assert x.tolist() != [1, 1, 1]
    assert x.is_leaf
    assert x.requires_grad


def test_in_place_results_must_fit_shape_and_dtype():
    x = pyburn.zeros(3)
    with pytest.raises(RuntimeError, match="broadcast"):
        x.add_(pyburn.zeros(2, 3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        pyburn.zeros(3, dtype=pyburn.int64).add_(1.5)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.mul_(1j)
    assert x.add_(True).dtype == pyburn.float32


def test_in_place_methods_return_the_tensor_itself():
    x = pyburn.ones(2)
    kept = x
    assert x.add_(1) is x
    x += 1
    assert x is kept
    assert x.zero_() is x
    assert x.tolist() == [0, 0]


IN_PLACE = {
    "add_": (lambda x: x.add_(2), lambda a: a + 2, lambda a: np.ones_like(a)),
    "mul_": (lambda x: x.mul_(3), lambda a: a * 3, lambda a: np.full_like(a, 3)),
    "div_": (lambda x: x.div_(2), lambda a: a / 2, lambda a: np.full_like(a, 0.5)),
    "pow_": (lambda x: x.pow_(3), lambda a: a**3, lambda a: 3 * a**2),
    "exp_": (lambda x: x.exp_(), np.exp, np.exp),
    "log_": (lambda x: x.log_(), np.log, lambda a: 1 / a),
    "sqrt_": (lambda x: x.sqrt_(), np.sqrt, lambda a: 0.5 / np.sqrt(a)),
    "sin_": (lambda x: x.sin_(), np.sin, np.cos),
    "tanh_": (lambda x: x.tanh_(), np.tanh, lambda a: 1 - np.tanh(a) ** 2),
    "neg_": (lambda x: x.neg_(), np.negative, lambda a: -np.ones_like(a)),
    "square_": (lambda x: x.square_(), np.square, lambda a: 2 * a),
    "clamp_": (
        lambda x: x.clamp_(1, 2),
        lambda a: a.clip(1, 2),
        lambda a: ((a > 1) & (a < 2)).astype(a.dtype),
    ),
    "relu_": (lambda x: x.sub_(1).relu_(), lambda a: (a - 1).clip(0), lambda a: (a > 1) * 1.0),
    "masked_fill_": (
        lambda x: x.masked_fill_(x > 1, 0.0),
        lambda a: np.where(a > 1, 0, a),
        lambda a: (a <= 1) * 1.0,
    ),
    "addcmul_": (
        lambda x: x.addcmul_(pyburn.full((4,), 2.0), pyburn.full((4,), 3.0)),
        lambda a: a + 6,
        lambda a: np.ones_like(a),
    ),
    "lerp_": (
        lambda x: x.lerp_(pyburn.ones(4), 0.25),
        lambda a: a * 0.75 + 0.25,
        lambda a: np.full_like(a, 0.75),
    ),
    "itself": (lambda x: x.mul_(x), lambda a: a * a, lambda a: 2 * a),
}


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("through_a_view", [False, True])
def test_in_place_arithmetic_has_the_right_gradient(name, through_a_view):
    write, value, slope = IN_PLACE[name]
    a = np.array([0.3, 0.9, 1.7, 2.6], dtype=np.float32)
    leaf = pyburn.tensor(a, requires_grad=True)
    x = leaf * 1
    write(x.view(2, 2).view(4) if through_a_view else x)
    np.testing.assert_allclose(x.detach().numpy(), value(a), rtol=1e-6)
    x.sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), slope(a), rtol=1e-5)


def test_turning_in_place():
    x = arange(2, 3)
    assert x.t_().shape == (3, 2)
    assert x.unsqueeze_(0).shape == (1, 3, 2)
    assert x.squeeze_().shape == (3, 2)
    assert x.transpose_(0, 1).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_setting_the_data_replaces_the_memory():
    x = pyburn.ones(2, requires_grad=True)
    other = pyburn.tensor([3.0, 4.0])
    x.data = other
    assert x.tolist() == [3, 4]
    assert x.requires_grad
    other.zero_()
    assert x.tolist() == [0, 0]


def test_detached_tensors_share_memory_and_versions():
    x = pyburn.ones(2, requires_grad=True)
    y = x * 2
    before = y._version
    y.detach().add_(1)
    assert y.tolist() == [3, 3]
    assert y._version == before + 1

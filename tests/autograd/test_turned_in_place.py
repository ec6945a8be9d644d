"""`t_`, `squeeze_` and their like change a tensor's own shape; its history follows."""

from __future__ import annotations

import pyburn
import pytest


def test_gradients_follow_a_tensor_that_turned() -> None:
    leaf = pyburn.arange(6.0).reshape(2, 3).requires_grad_()
    x = leaf * 2
    assert x.t_() is x
    assert x.shape == (3, 2)
    weights = pyburn.arange(6.0).reshape(3, 2)
    (x * weights).sum().backward()
    assert leaf.grad.tolist() == (2 * weights).t().tolist()


def test_writes_after_turning_reach_the_history() -> None:
    leaf = pyburn.ones(2, 3, requires_grad=True)
    x = leaf * 2
    x.unsqueeze_(0).transpose_(1, 2)
    x[0, 0].mul_(10)
    x.squeeze_(0)
    assert x.shape == (3, 2)
    x.sum().backward()
    assert leaf.grad.tolist() == [[20.0, 2.0, 2.0], [20.0, 2.0, 2.0]]


def test_a_view_of_a_view_turns() -> None:
    leaf = pyburn.arange(12.0).reshape(3, 4).requires_grad_()
    base = leaf * 1
    view = base[1:]
    view.t_()
    view[0].zero_()
    assert base.detach()[1:, 0].tolist() == [0.0, 0.0]
    base.sum().backward()
    assert leaf.grad.tolist() == [[1.0] * 4, [0.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]]


def test_any_geometry() -> None:
    leaf = pyburn.arange(4.0).requires_grad_()
    x = leaf * 1
    x.as_strided_((2, 2), (1, 1), 1)
    assert x.tolist() == [[1.0, 2.0], [2.0, 3.0]]
    x.sum().backward()
    assert leaf.grad.tolist() == [0.0, 1.0, 2.0, 1.0]


def test_without_gradients_only_the_shape_changes() -> None:
    x = pyburn.arange(6).reshape(2, 3)
    memory = x.data_ptr()
    x.t_()
    assert (x.shape, x.data_ptr(), x.tolist()) == ((3, 2), memory, [[0, 3], [1, 4], [2, 5]])
    weight = pyburn.ones(2, 3, requires_grad=True)
    with pyburn.no_grad():
        weight.t_()
    assert weight.is_leaf
    assert weight.requires_grad
    assert weight.shape == (3, 2)


def test_leaves_are_refused() -> None:
    leaf = pyburn.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf variable"):
        leaf.t_()
    with pytest.raises(RuntimeError, match="view of a leaf"):
        leaf[:1].squeeze_(0)


def test_a_view_from_before_the_turn_still_reaches_its_row() -> None:
    leaf = pyburn.arange(4.0).reshape(2, 2).requires_grad_()
    x = leaf * 1
    row = x[0]
    x.t_()
    row.mul_(2)
    assert x.tolist() == [[0.0, 2.0], [2.0, 3.0]]
    x.sum().backward()
    assert leaf.grad.tolist() == [[2.0, 2.0], [1.0, 1.0]]

"""One pass over everything that must work at all; a few seconds."""

import pickle

import numpy as np
import pyburn


def test_a_line_is_learned():
    pyburn.manual_seed(0)
    x = pyburn.linspace(-1, 1, 64)[:, None]
    y = 3 * x - 0.5
    w, b = pyburn.zeros(1, 1, requires_grad=True), pyburn.zeros(1, requires_grad=True)
    for _ in range(200):
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        with pyburn.no_grad():
            for parameter in (w, b):
                parameter -= 0.3 * parameter.grad
                parameter.grad = None
    np.testing.assert_allclose([w.item(), b.item()], [3, -0.5], atol=1e-3)


def test_a_small_net_separates_two_rings():
    pyburn.manual_seed(1)
    angle = pyburn.linspace(0, 2 * pyburn.pi, 50)
    ring = pyburn.stack([angle.cos(), angle.sin()], 1)
    x = pyburn.cat([ring, 2 * ring])
    y = pyburn.cat([pyburn.zeros(50), pyburn.ones(50)])
    shapes = ((2, 16), (16,), (16, 1), (1,))
    parameters = [(pyburn.randn(s) * 0.5).requires_grad_() for s in shapes]
    w1, b1, w2, b2 = parameters
    for _ in range(300):
        p = ((x @ w1 + b1).relu() @ w2 + b2).squeeze(1).sigmoid()
        loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
        grads = pyburn.autograd.grad(loss, parameters)
        with pyburn.no_grad():
            for parameter, grad in zip(parameters, grads, strict=True):
                parameter -= grad
    assert ((p > 0.5) == y.bool()).all()


def test_indexing_and_views():
    x = pyburn.arange(12).reshape(3, 4)
    x[:, 1:3] += 100
    x.t()[0, x[:, 0] > 0] = -1
    expected = np.arange(12).reshape(3, 4)
    expected[:, 1:3] += 100
    expected[1:, 0] = -1
    np.testing.assert_array_equal(x.numpy(), expected)


def test_text_and_numbers():
    assert repr(pyburn.tensor([1.5, -2.0])) == "tensor([ 1.5000, -2.0000])"
    assert pyburn.tensor([[1, 2]]).tolist() == [[1, 2]]
    assert float(pyburn.tensor(2.5) * 2) == 5.0


def test_exchange():
    a = np.ones(3, dtype=np.float32)
    x = pyburn.from_numpy(a)
    x.mul_(2)
    assert a.tolist() == [2, 2, 2]
    assert np.from_dlpack(x).tolist() == [2, 2, 2]
    assert pickle.loads(pickle.dumps(x)).tolist() == [2, 2, 2]


def test_linear_algebra_and_statistics():
    a = pyburn.tensor([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose((a @ pyburn.linalg.inv(a)).numpy(), np.eye(2), atol=1e-6)
    x = pyburn.arange(10, dtype=pyburn.float32)
    assert (x.mean().item(), x.max().item(), x.argmin().item()) == (4.5, 9, 0)
    assert x.softmax(0).sum().item() == 1.0

"""How tensors print: PyTorch's text, character by character, with our name for its dtypes."""

import math

import pyburn
import pytest

CASES = [
    (
        lambda: pyburn.tensor(1),
        "tensor(1)",
    ),
    (
        lambda: pyburn.tensor(1.5),
        "tensor(1.5000)",
    ),
    (
        lambda: pyburn.tensor(True),
        "tensor(True)",
    ),
    (
        lambda: pyburn.tensor(1 + 2j),
        "tensor(1.+2.j)",
    ),
    (
        lambda: pyburn.tensor([]),
        "tensor([])",
    ),
    (
        lambda: pyburn.zeros(2, 0),
        "tensor([], size=(2, 0))",
    ),
    (
        lambda: pyburn.zeros(0, dtype=pyburn.int64),
        "tensor([], dtype=pyburn.int64)",
    ),
    (
        lambda: pyburn.zeros(0, 3, dtype=pyburn.float64),
        "tensor([], size=(0, 3), dtype=pyburn.float64)",
    ),
    (
        lambda: pyburn.tensor([1, 20, -300]),
        "tensor([   1,   20, -300])",
    ),
    (
        lambda: pyburn.tensor([1.0, 2.0]),
        "tensor([1., 2.])",
    ),
    (
        lambda: pyburn.tensor([1.0, -2.5, 1000.0]),
        "tensor([   1.0000,   -2.5000, 1000.0000])",
    ),
    (
        lambda: pyburn.tensor([0.1, 1e-6]),
        "tensor([1.0000e-01, 1.0000e-06])",
    ),
    (
        lambda: pyburn.tensor([1e9, 1.0]),
        "tensor([1.0000e+09, 1.0000e+00])",
    ),
    (
        lambda: pyburn.tensor([1e-5, 1e5]),
        "tensor([1.0000e-05, 1.0000e+05])",
    ),
    (
        lambda: pyburn.tensor([12345.678, 0.001]),
        "tensor([1.2346e+04, 1.0000e-03])",
    ),
    (
        lambda: pyburn.tensor([math.nan, math.inf, -math.inf, 1.0]),
        "tensor([nan, inf, -inf, 1.])",
    ),
    (
        lambda: pyburn.tensor([math.nan, math.inf]),
        "tensor([nan, inf])",
    ),
    (
        lambda: pyburn.tensor([math.nan, 2.5, -1e-8]),
        "tensor([        nan,  2.5000e+00, -1.0000e-08])",
    ),
    (
        lambda: pyburn.tensor([True, False]),
        "tensor([ True, False])",
    ),
    (
        lambda: pyburn.tensor([1 + 2j, -0.5 - 1j]),
        "tensor([ 1.0000+2.j, -0.5000-1.j])",
    ),
    (
        lambda: pyburn.tensor([1e-7 + 1j, 2 + 3e8j]),
        "tensor([1.0000e-07+1.0000e+00j, 2.0000e+00+3.0000e+08j])",
    ),
    (
        lambda: pyburn.tensor([complex(math.nan, math.inf), 1j]),
        "tensor([nan+infj, 0.+1.j])",
    ),
    (
        lambda: pyburn.tensor([1.0, 2.0], dtype=pyburn.float64),
        "tensor([1., 2.], dtype=pyburn.float64)",
    ),
    (
        lambda: pyburn.tensor([1, 2], dtype=pyburn.int32),
        "tensor([1, 2], dtype=pyburn.int32)",
    ),
    (
        lambda: pyburn.tensor([1, 2], dtype=pyburn.uint8),
        "tensor([1, 2], dtype=pyburn.uint8)",
    ),
    (
        lambda: pyburn.tensor([1.5, -2.0], dtype=pyburn.float16),
        "tensor([ 1.5000, -2.0000], dtype=pyburn.float16)",
    ),
    (
        lambda: pyburn.tensor([1.5, -2.0], dtype=pyburn.bfloat16),
        "tensor([ 1.5000, -2.0000], dtype=pyburn.bfloat16)",
    ),
    (
        lambda: pyburn.tensor([1j], dtype=pyburn.complex128),
        "tensor([0.+1.j], dtype=pyburn.complex128)",
    ),
    (
        lambda: pyburn.tensor([[1, 2], [3, 4]]),
        "tensor([[1, 2],\n        [3, 4]])",
    ),
    (
        lambda: pyburn.tensor([[1.5, -2.0], [300.0, 4.0]]),
        "tensor([[  1.5000,  -2.0000],\n        [300.0000,   4.0000]])",
    ),
    (
        lambda: pyburn.arange(8).reshape(2, 2, 2),
        "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])",
    ),
    (
        lambda: pyburn.arange(16.0).reshape(2, 2, 2, 2),
        "tensor([[[[ 0.,  1.],\n"
        "          [ 2.,  3.]],\n"
        "\n"
        "         [[ 4.,  5.],\n"
        "          [ 6.,  7.]]],\n"
        "\n"
        "\n"
        "        [[[ 8.,  9.],\n"
        "          [10., 11.]],\n"
        "\n"
        "         [[12., 13.],\n"
        "          [14., 15.]]]])",
    ),
    (
        lambda: pyburn.zeros(1, 1, 1),
        "tensor([[[0.]]])",
    ),
    (
        lambda: pyburn.zeros(2, 1, 0),
        "tensor([], size=(2, 1, 0))",
    ),
    (
        lambda: pyburn.arange(30),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    ),
    (
        lambda: pyburn.arange(30.0) / 7,
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
        "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,\n"
        "        2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857, 3.4286, 3.5714, 3.7143,\n"
        "        3.8571, 4.0000, 4.1429])",
    ),
    (
        lambda: pyburn.arange(1001),
        "tensor([   0,    1,    2,  ...,  998,  999, 1000])",
    ),
    (
        lambda: pyburn.arange(1000)[::50],
        "tensor([  0,  50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650,\n"
        "        700, 750, 800, 850, 900, 950])",
    ),
    (
        lambda: pyburn.zeros(100, 100),
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        ...,\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.]])",
    ),
    (
        lambda: pyburn.arange(2000.0).reshape(10, 10, 20),
        "tensor([[[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.7000e+01,\n"
        "          1.8000e+01, 1.9000e+01],\n"
        "         [2.0000e+01, 2.1000e+01, 2.2000e+01,  ..., 3.7000e+01,\n"
        "          3.8000e+01, 3.9000e+01],\n"
        "         [4.0000e+01, 4.1000e+01, 4.2000e+01,  ..., 5.7000e+01,\n"
        "          5.8000e+01, 5.9000e+01],\n"
        "         ...,\n"
        "         [1.4000e+02, 1.4100e+02, 1.4200e+02,  ..., 1.5700e+02,\n"
        "          1.5800e+02, 1.5900e+02],\n"
        "         [1.6000e+02, 1.6100e+02, 1.6200e+02,  ..., 1.7700e+02,\n"
        "          1.7800e+02, 1.7900e+02],\n"
        "         [1.8000e+02, 1.8100e+02, 1.8200e+02,  ..., 1.9700e+02,\n"
        "          1.9800e+02, 1.9900e+02]],\n"
        "\n"
        "        [[2.0000e+02, 2.0100e+02, 2.0200e+02,  ..., 2.1700e+02,\n"
        "          2.1800e+02, 2.1900e+02],\n"
        "         [2.2000e+02, 2.2100e+02, 2.2200e+02,  ..., 2.3700e+02,\n"
        "          2.3800e+02, 2.3900e+02],\n"
        "         [2.4000e+02, 2.4100e+02, 2.4200e+02,  ..., 2.5700e+02,\n"
        "          2.5800e+02, 2.5900e+02],\n"
        "         ...,\n"
        "         [3.4000e+02, 3.4100e+02, 3.4200e+02,  ..., 3.5700e+02,\n"
        "          3.5800e+02, 3.5900e+02],\n"
        "         [3.6000e+02, 3.6100e+02, 3.6200e+02,  ..., 3.7700e+02,\n"
        "          3.7800e+02, 3.7900e+02],\n"
        "         [3.8000e+02, 3.8100e+02, 3.8200e+02,  ..., 3.9700e+02,\n"
        "          3.9800e+02, 3.9900e+02]],\n"
        "\n"
        "        [[4.0000e+02, 4.0100e+02, 4.0200e+02,  ..., 4.1700e+02,\n"
        "          4.1800e+02, 4.1900e+02],\n"
        "         [4.2000e+02, 4.2100e+02, 4.2200e+02,  ..., 4.3700e+02,\n"
        "          4.3800e+02, 4.3900e+02],\n"
        "         [4.4000e+02, 4.4100e+02, 4.4200e+02,  ..., 4.5700e+02,\n"
        "          4.5800e+02, 4.5900e+02],\n"
        "         ...,\n"
        "         [5.4000e+02, 5.4100e+02, 5.4200e+02,  ..., 5.5700e+02,\n"
        "          5.5800e+02, 5.5900e+02],\n"
        "         [5.6000e+02, 5.6100e+02, 5.6200e+02,  ..., 5.7700e+02,\n"
        "          5.7800e+02, 5.7900e+02],\n"
        "         [5.8000e+02, 5.8100e+02, 5.8200e+02,  ..., 5.9700e+02,\n"
        "          5.9800e+02, 5.9900e+02]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[1.4000e+03, 1.4010e+03, 1.4020e+03,  ..., 1.4170e+03,\n"
        "          1.4180e+03, 1.4190e+03],\n"
        "         [1.4200e+03, 1.4210e+03, 1.4220e+03,  ..., 1.4370e+03,\n"
        "          1.4380e+03, 1.4390e+03],\n"
        "         [1.4400e+03, 1.4410e+03, 1.4420e+03,  ..., 1.4570e+03,\n"
        "          1.4580e+03, 1.4590e+03],\n"
        "         ...,\n"
        "         [1.5400e+03, 1.5410e+03, 1.5420e+03,  ..., 1.5570e+03,\n"
        "          1.5580e+03, 1.5590e+03],\n"
        "         [1.5600e+03, 1.5610e+03, 1.5620e+03,  ..., 1.5770e+03,\n"
        "          1.5780e+03, 1.5790e+03],\n"
        "         [1.5800e+03, 1.5810e+03, 1.5820e+03,  ..., 1.5970e+03,\n"
        "          1.5980e+03, 1.5990e+03]],\n"
        "\n"
        "        [[1.6000e+03, 1.6010e+03, 1.6020e+03,  ..., 1.6170e+03,\n"
        "          1.6180e+03, 1.6190e+03],\n"
        "         [1.6200e+03, 1.6210e+03, 1.6220e+03,  ..., 1.6370e+03,\n"
        "          1.6380e+03, 1.6390e+03],\n"
        "         [1.6400e+03, 1.6410e+03, 1.6420e+03,  ..., 1.6570e+03,\n"
        "          1.6580e+03, 1.6590e+03],\n"
        "         ...,\n"
        "         [1.7400e+03, 1.7410e+03, 1.7420e+03,  ..., 1.7570e+03,\n"
        "          1.7580e+03, 1.7590e+03],\n"
        "         [1.7600e+03, 1.7610e+03, 1.7620e+03,  ..., 1.7770e+03,\n"
        "          1.7780e+03, 1.7790e+03],\n"
        "         [1.7800e+03, 1.7810e+03, 1.7820e+03,  ..., 1.7970e+03,\n"
        "          1.7980e+03, 1.7990e+03]],\n"
        "\n"
        "        [[1.8000e+03, 1.8010e+03, 1.8020e+03,  ..., 1.8170e+03,\n"
        "          1.8180e+03, 1.8190e+03],\n"
        "         [1.8200e+03, 1.8210e+03, 1.8220e+03,  ..., 1.8370e+03,\n"
        "          1.8380e+03, 1.8390e+03],\n"
        "         [1.8400e+03, 1.8410e+03, 1.8420e+03,  ..., 1.8570e+03,\n"
        "          1.8580e+03, 1.8590e+03],\n"
        "         ...,\n"
        "         [1.9400e+03, 1.9410e+03, 1.9420e+03,  ..., 1.9570e+03,\n"
        "          1.9580e+03, 1.9590e+03],\n"
        "         [1.9600e+03, 1.9610e+03, 1.9620e+03,  ..., 1.9770e+03,\n"
        "          1.9780e+03, 1.9790e+03],\n"
        "         [1.9800e+03, 1.9810e+03, 1.9820e+03,  ..., 1.9970e+03,\n"
        "          1.9980e+03, 1.9990e+03]]])",
    ),
    (
        lambda: pyburn.ones(3, 400),
        "tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.]])",
    ),
    (
        lambda: pyburn.ones(2, requires_grad=True),
        "tensor([1., 1.], requires_grad=True)",
    ),
    (
        lambda: pyburn.ones(2, requires_grad=True) * 2,
        "tensor([2., 2.], grad_fn=<MulBackward0>)",
    ),
    (
        lambda: pyburn.ones(2, dtype=pyburn.float64, requires_grad=True).sum(),
        "tensor(2., dtype=pyburn.float64, grad_fn=<SumBackward0>)",
    ),
    (
        lambda: pyburn.ones(3, requires_grad=True).view(1, 3),
        "tensor([[1., 1., 1.]], grad_fn=<ViewBackward0>)",
    ),
    (
        lambda: pyburn.tensor([-0.0, 0.0]),
        "tensor([-0., 0.])",
    ),
    (
        lambda: pyburn.tensor([0.0001, 1.0]),
        "tensor([1.0000e-04, 1.0000e+00])",
    ),
    (
        lambda: pyburn.tensor([0.00009, 1.0]),
        "tensor([9.0000e-05, 1.0000e+00])",
    ),
    (
        lambda: pyburn.tensor([99999999.0, 1.5]),
        "tensor([1.0000e+08, 1.5000e+00])",
    ),
    (
        lambda: pyburn.tensor([100000001.0]),
        "tensor([100000000.])",
    ),
    (
        lambda: pyburn.tensor([1e10]),
        "tensor([1.0000e+10])",
    ),
    (
        lambda: pyburn.full((2, 2), 1e-10),
        "tensor([[1.0000e-10, 1.0000e-10],\n        [1.0000e-10, 1.0000e-10]])",
    ),
    (
        lambda: pyburn.tensor(1e-5),
        "tensor(1.0000e-05)",
    ),
    (
        lambda: pyburn.tensor(123456789),
        "tensor(123456789)",
    ),
    (
        lambda: pyburn.tensor(-1.0),
        "tensor(-1.)",
    ),
    (
        lambda: pyburn.zeros(2, 3, device="meta"),
        "tensor(..., device='meta', size=(2, 3))",
    ),
    (
        lambda: pyburn.zeros(2, device="meta", dtype=pyburn.int32),
        "tensor(..., device='meta', size=(2,), dtype=pyburn.int32)",
    ),
    (
        lambda: pyburn.arange(12.0)[None, None].expand(1, 2, 12) / 3,
        "tensor([[[0.0000, 0.3333, 0.6667, 1.0000, 1.3333, 1.6667, 2.0000, 2.3333,\n"
        "          2.6667, 3.0000, 3.3333, 3.6667],\n"
        "         [0.0000, 0.3333, 0.6667, 1.0000, 1.3333, 1.6667, 2.0000, 2.3333,\n"
        "          2.6667, 3.0000, 3.3333, 3.6667]]])",
    ),
]


@pytest.mark.parametrize(("make", "text"), CASES, ids=range(len(CASES)))
def test_text(make, text):
    assert repr(make()) == text
    assert str(make()) == text


def test_options():
    x = pyburn.tensor([1.123456, 1000.5])
    with pyburn.printoptions(precision=2):
        assert repr(x) == "tensor([   1.12, 1000.50])"
    with pyburn.printoptions(sci_mode=True):
        assert repr(x) == "tensor([1.1235e+00, 1.0005e+03])"
    with pyburn.printoptions(threshold=5, edgeitems=1):
        assert repr(pyburn.arange(9)) == "tensor([0,  ..., 8])"
    assert repr(x) == "tensor([   1.1235, 1000.5000])"


def test_profiles():
    try:
        pyburn.set_printoptions(profile="short")
        assert repr(pyburn.tensor([1.123456])) == "tensor([1.12])"
        pyburn.set_printoptions(profile="full")
        assert "..." not in repr(pyburn.arange(1001))
    finally:
        pyburn.set_printoptions(profile="default")


def test_wide_lines_are_broken_at_the_width():
    with pyburn.printoptions(linewidth=20):
        lines = repr(pyburn.arange(12)).splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 20 for line in lines)


def test_a_subclass_shows_its_name():
    class Mine(pyburn.Tensor):
        pass

    assert repr(Mine([1.0])).startswith("Mine(")


def test_format():
    assert f"{pyburn.tensor(2.5)}" == "2.5"
    assert f"{pyburn.tensor(2.5):8.3f}" == "   2.500"
    assert f"{pyburn.tensor([2.5])}" == "tensor([2.5000])"


def test_printing_a_large_tensor_reads_only_its_edges():
    """The summary of an expanded tensor of a terabyte."""
    x = pyburn.ones(1).expand(1 << 20, 1 << 18)
    assert repr(x).count("1.") == 36

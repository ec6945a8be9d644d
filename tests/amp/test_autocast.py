"""Autocast: what it converts, where it holds, what it leaves alone."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pyburn
import pytest
from pyburn.nn import functional as F

HALF, SINGLE, DOUBLE = pyburn.bfloat16, pyburn.float32, pyburn.float64


@pytest.fixture
def x():
    return pyburn.rand(4, 4)


@pytest.fixture
def h(x):
    return x.to(HALF)


@pytest.fixture(autouse=True)
def unchanged():
    """No test leaves autocast on."""
    yield
    assert not pyburn.is_autocast_enabled("cpu")
    assert pyburn.get_autocast_dtype("cpu") == HALF
    assert pyburn.is_autocast_cache_enabled()


NARROW = {
    "matmul": lambda x: x @ x,
    "vectors": lambda x: x[0] @ x[0],
    "mm": lambda x: pyburn.mm(x, x),
    "bmm": lambda x: pyburn.bmm(x[None], x[None]),
    "addmm": lambda x: pyburn.addmm(x, x, x),
    "addbmm": lambda x: pyburn.addbmm(x, x[None], x[None]),
    "baddbmm": lambda x: pyburn.baddbmm(x[None], x[None], x[None]),
    "inner": lambda x: pyburn.inner(x, x),
    "einsum": lambda x: pyburn.einsum("ij,jk->ik", x, x),
    "multi_dot": lambda x: pyburn.linalg.multi_dot([x, x, x]),
    "chain_matmul": lambda x: pyburn.chain_matmul(x, x, x),
    "vecdot": lambda x: pyburn.linalg.vecdot(x, x),
    "linear": lambda x: F.linear(x, x),
    "linear with a bias": lambda x: F.linear(x, x, x[0]),
}
GIVEN = {
    "mv": lambda x: pyburn.mv(x, x[0]),
    "addmv": lambda x: pyburn.addmv(x[0], x, x[0]),
    "addr": lambda x: pyburn.addr(x, x[0], x[0]),
    "dot": lambda x: pyburn.dot(x[0], x[0]),
    "tensordot": lambda x: pyburn.tensordot(x, x),
    "outer": lambda x: pyburn.outer(x[0], x[0]),
    "add": lambda x: x + x,
    "exp": lambda x: x.exp(),
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "softmax": lambda x: x.softmax(-1),
    "pow": lambda x: x**2,
    "relu": lambda x: x.relu(),
    "vector_norm": lambda x: pyburn.linalg.vector_norm(x),
}
WIDE = {
    "prod": lambda x: x.prod(),
    "cdist": lambda x: pyburn.cdist(x, x),
    "quantile": lambda x: pyburn.quantile(x, 0.5),
    "trace": lambda x: x.trace(),
    "inv": lambda x: pyburn.linalg.inv(x),
    "solve": lambda x: pyburn.linalg.solve(x, x[0]),
    "cond": lambda x: pyburn.linalg.cond(x),
    "pinv": lambda x: pyburn.linalg.pinv(x),
    "svd": lambda x: pyburn.linalg.svd(x)[0],
    "lstsq": lambda x: pyburn.linalg.lstsq(x, x)[0],
    "det": lambda x: pyburn.linalg.det(x),
    "l1_loss": lambda x: F.l1_loss(x, x),
    "mse_loss": lambda x: F.mse_loss(x, x),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x),
    "huber_loss": lambda x: F.huber_loss(x, x),
    "cross_entropy": lambda x: F.cross_entropy(x, pyburn.arange(4)),
    "nll_loss": lambda x: F.nll_loss(x, pyburn.arange(4)),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x, x),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x),
    "kl_div": lambda x: F.kl_div(x, x, reduction="sum"),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(x, x),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, x.sign()),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(x, x, x),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, x.sign()),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, x, x.sign()),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x, pyburn.arange(4)),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(
        x, x, pyburn.ones(4, dtype=pyburn.int64)
    ),
}


@pytest.mark.parametrize("name", NARROW)
def test_products_are_narrow(name, x, h):
    exact = NARROW[name](x)
    with pyburn.autocast("cpu"):
        narrow, same = NARROW[name](x), NARROW[name](h)
    assert narrow.dtype == same.dtype == HALF
    assert exact.dtype == SINGLE
    np.testing.assert_allclose(narrow.float().numpy(), exact.numpy(), rtol=3e-2)
    with pyburn.autocast("cpu", dtype=pyburn.float16):
        assert NARROW[name](x).dtype == pyburn.float16


@pytest.mark.parametrize("name", WIDE)
def test_losses_and_what_halves_are_too_coarse_for(name, h):
    exact = WIDE[name](h.float())
    with pyburn.autocast("cpu"):
        wide = WIDE[name](h)
    assert wide.dtype == SINGLE
    if name != "svd":  # whose signs are free
        np.testing.assert_allclose(wide.numpy(), exact.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", GIVEN)
def test_everything_else_computes_in_what_it_is_given(name, x, h):
    exact = GIVEN[name](x)
    with pyburn.autocast("cpu"):
        assert (GIVEN[name](x) == exact).all()
        assert GIVEN[name](h).dtype == HALF


@pytest.mark.parametrize("name", [name for name in NARROW if name != "vectors"])
def test_doubles_are_left_alone(name, x):
    d = x.double()
    with pyburn.autocast("cpu"):
        assert NARROW[name](d).dtype == DOUBLE


def test_dtypes_may_be_mixed(x, h):
    with pyburn.autocast("cpu"):
        for product in (x @ h, pyburn.mm(h, x), F.linear(h, x, x[0]), pyburn.addmm(x, h, x)):
            assert product.dtype == HALF
        assert F.mse_loss(h, x).dtype == SINGLE
        index = pyburn.arange(4)
        assert h.index_copy(0, index, x).dtype == SINGLE
        assert h.scatter_add(0, index[None], x).dtype == SINGLE
        with pytest.raises(RuntimeError, match="dtype"):
            x @ x.double()
    with pytest.raises(RuntimeError, match="dtype"):
        x @ h


def test_fourier_transforms_compute_in_single_precision(h):
    with pyburn.autocast("cpu"):
        assert pyburn.fft.fft(h).dtype == pyburn.complex64
        assert pyburn.fft.irfft(pyburn.fft.rfft(h)).dtype == SINGLE


def test_bilinear_is_not_narrowed_by_its_products(x):
    weight = pyburn.rand(3, 4, 4)
    exact = F.bilinear(x, x, weight)
    with pyburn.autocast("cpu"):
        assert (F.bilinear(x, x, weight) == exact).all()


def test_layers(x):
    model = pyburn.nn.Sequential(
        pyburn.nn.Linear(4, 8), pyburn.nn.ReLU(), pyburn.nn.Linear(8, 3), pyburn.nn.Softmax(-1)
    )
    with pyburn.autocast("cpu"):
        y = model(x)
        loss = F.cross_entropy(y, pyburn.zeros(4, dtype=pyburn.int64))
    assert (y.dtype, loss.dtype) == (HALF, SINGLE)
    loss.backward()
    for parameter in model.parameters():
        assert parameter.dtype == parameter.grad.dtype == SINGLE
        assert parameter.grad.abs().sum() > 0


def test_normalisation_keeps_the_dtype_of_its_input(h):
    images = h.reshape(1, 4, 2, 2)
    layers = {
        pyburn.nn.BatchNorm2d(4): images,
        pyburn.nn.LayerNorm(4): h,
        pyburn.nn.GroupNorm(2, 4): images,
    }
    for layer, given in layers.items():
        with pyburn.autocast("cpu"):
            y = layer(given)
        assert y.dtype == HALF
        y.sum().backward()
        assert layer.weight.grad.dtype == SINGLE


def test_convolutions_and_attention_are_narrow():
    images = pyburn.rand(2, 3, 8, 8)
    convolution = pyburn.nn.Conv2d(3, 4, 3)
    turned = pyburn.nn.ConvTranspose2d(3, 4, 3)
    q = pyburn.rand(2, 2, 5, 4)
    exact = convolution(images)
    with pyburn.autocast("cpu"):
        y = convolution(images)
        assert y.dtype == turned(images).dtype == HALF
        assert F.scaled_dot_product_attention(q, q, q).dtype == HALF
    np.testing.assert_allclose(y.detach().float().numpy(), exact.detach().numpy(), atol=2e-2)
    y.float().sum().backward()
    assert convolution.weight.grad.dtype == SINGLE


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_are_narrow(kind, x):
    layer = getattr(pyburn.nn, kind)(4, 3)
    with pyburn.autocast("cpu"):
        y, _ = layer(x)
    assert y.dtype == HALF
    y.float().sum().backward()
    assert all(parameter.grad.dtype == SINGLE for parameter in layer.parameters())


def test_gradients_arrive_in_the_dtype_of_what_was_converted(x):
    x.requires_grad_()
    with pyburn.autocast("cpu"):
        y = x @ x
    seen = []
    y.register_hook(lambda grad: seen.append(grad.dtype))
    y.float().sum().backward()
    assert seen == [HALF]
    assert x.grad.dtype == SINGLE


def test_backward_within_computes_the_same(x):
    """Rules of gradients are made of products, which are not narrowed further."""
    weight = pyburn.rand(4, 4, requires_grad=True)
    grads = []
    for within in (False, True):
        weight.grad = None
        with pyburn.autocast("cpu"):
            loss = ((x @ weight).float() ** 2).sum()
            with pyburn.autocast("cpu", enabled=False):
                loss = loss + (x @ weight * 1.001).sum()
            if within:
                loss.backward()
        if not within:
            loss.backward()
        grads.append(weight.grad)
    assert (grads[0] == grads[1]).all()


def test_gradients_of_gradients(x):
    weight = pyburn.rand(4, 4, requires_grad=True)
    with pyburn.autocast("cpu"):
        y = (x @ weight).float().square().sum()
        (grad,) = pyburn.autograd.grad(y, weight, create_graph=True)
        penalty = grad.square().sum()
    penalty.backward()
    assert weight.grad.dtype == SINGLE
    assert weight.grad.isfinite().all()


def test_nested(x):
    with pyburn.autocast("cpu"):
        with pyburn.autocast("cpu", enabled=False):
            assert not pyburn.is_autocast_enabled("cpu")
            assert (x @ x).dtype == SINGLE
            with pyburn.autocast("cpu", dtype=pyburn.float16):
                assert (x @ x).dtype == pyburn.float16
            assert (x @ x).dtype == SINGLE
        assert pyburn.is_autocast_enabled("cpu")
        assert (x @ x).dtype == HALF


def test_one_object_nests_in_itself(x):
    mode = pyburn.autocast("cpu")
    with mode as entered:
        assert entered is mode
        with mode:
            assert (x @ x).dtype == HALF
        assert (x @ x).dtype == HALF
    assert (x @ x).dtype == SINGLE


def test_an_exception_ends_it(x):
    with pytest.raises(ZeroDivisionError), pyburn.autocast("cpu"):
        raise ZeroDivisionError
    with pyburn.autocast("cpu"), pytest.raises(RuntimeError):
        pyburn.mm(x, x[:2])
    with pyburn.autocast("cpu"), pytest.raises(RuntimeError):
        F.cross_entropy(x, pyburn.arange(3))
    assert (x @ x).dtype == SINGLE


def test_as_a_decorator(x):
    @pyburn.autocast("cpu")
    def square(x, again=False):
        """Multiplies."""
        product = x @ x
        return square(product) if again else product

    assert square(x).dtype == square(x, again=True).dtype == HALF
    assert square.__doc__ == "Multiplies."

    class Model(pyburn.nn.Module):
        @pyburn.autocast(device_type="cpu", dtype=pyburn.float16)
        def forward(self, x):
            return x @ x

    assert Model()(x).dtype == pyburn.float16
    assert (x @ x).dtype == SINGLE


def test_a_decorated_generator_switches_only_while_it_runs(x):
    @pyburn.autocast("cpu")
    def products():
        for _ in range(2):
            yield x @ x

    for product in products():
        assert product.dtype == HALF
        assert (x @ x).dtype == SINGLE


def test_it_belongs_to_a_thread(x):
    found = []
    with pyburn.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append((x @ x).dtype))
        thread.start()
        thread.join()
    assert found == [SINGLE]


def test_writes_in_place_compute_in_what_they_are_given(x):
    y, z = x.clone(), x.clone()
    expected = pyburn.addmm(x, x, x)
    with pyburn.autocast("cpu"):
        y.addmm_(x, x)
        z *= x
    assert (y == expected).all()
    assert (z == x * x).all()


def test_a_weight_is_converted_once(x):
    weight = pyburn.rand(4, 4, requires_grad=True)

    def conversions(**options):
        """How many nodes convert the weight, of two that use it."""
        with pyburn.autocast("cpu", **options):
            first, second = x @ weight, x @ weight
        return len({repr(y.grad_fn.next_functions[1][0]) for y in (first, second)})

    assert conversions() == 1
    assert conversions(cache_enabled=False) == 2
    with pyburn.autocast("cpu"):
        first = x @ weight
        with pyburn.no_grad():
            weight += 1
        second = x @ weight
    assert ((second - first).float().mean() - x.sum(1).mean()).abs() < 0.1
    with pyburn.autocast("cpu"):
        with pyburn.no_grad():
            x @ weight
        assert (x @ weight).requires_grad


def test_clearing_the_cache(x):
    weight = pyburn.rand(4, 4, requires_grad=True)
    with pyburn.autocast("cpu"):
        first = x @ weight
        pyburn.clear_autocast_cache()
        second = x @ weight
    one, two = (repr(y.grad_fn.next_functions[1][0]) for y in (first, second))
    assert one != two


def test_checkpoints_run_again_as_they_ran_first(x):
    from pyburn.utils.checkpoint import checkpoint

    weight = pyburn.rand(4, 4, requires_grad=True)
    for use_reentrant in (False, True):
        seen = []

        def product(x, seen=seen):
            y = x @ weight
            seen.append(y.dtype)
            return y.float()

        given = x.clone().requires_grad_()
        with pyburn.autocast("cpu"):
            y = checkpoint(product, given, use_reentrant=use_reentrant)
        y.sum().backward()
        assert seen == [HALF, HALF]
    assert (x @ x).dtype == SINGLE


def test_switches(x):
    assert not pyburn.is_autocast_enabled()
    pyburn.set_autocast_enabled("cpu", True)
    try:
        assert pyburn.is_autocast_enabled("cpu")
        assert pyburn.is_autocast_cpu_enabled()
        assert not pyburn.is_autocast_enabled()
        pyburn.set_autocast_dtype("cpu", pyburn.float16)
        assert pyburn.get_autocast_cpu_dtype() == pyburn.float16
        assert (x @ x).dtype == pyburn.float16
    finally:
        pyburn.set_autocast_cpu_dtype(HALF)
        pyburn.set_autocast_cpu_enabled(False)
    pyburn.set_autocast_enabled(True)
    try:
        assert pyburn.is_autocast_enabled()
        assert pyburn.is_autocast_enabled("cuda")
        assert not pyburn.is_autocast_enabled("cpu")
        assert (x @ x).dtype == SINGLE
    finally:
        pyburn.set_autocast_enabled(False)
    pyburn.set_autocast_cache_enabled(False)
    try:
        assert not pyburn.is_autocast_cache_enabled()
    finally:
        pyburn.set_autocast_cache_enabled(True)
    assert pyburn.get_autocast_gpu_dtype() == pyburn.float16
    with pytest.raises(TypeError, match="got nothing"):
        pyburn.set_autocast_enabled("cpu")


def test_names_of_devices():
    assert pyburn.autocast("CPU").device == pyburn.autocast("ndarray").device == "cpu"
    assert pyburn.autocast("cpu").fast_dtype == HALF
    assert pyburn.amp.is_autocast_available("cuda")
    assert not pyburn.amp.is_autocast_available("meta")


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: pyburn.autocast(3), ValueError, "`device_type` of type `str`, got"),
        (lambda: pyburn.autocast(pyburn.device("cpu")), ValueError, "of type `str`"),
        (lambda: pyburn.autocast("meta"), RuntimeError, "unsupported device_type 'meta'"),
        (lambda: pyburn.autocast("tpu"), RuntimeError, "expected one of cpu"),
        (lambda: pyburn.autocast("cpu")(3), TypeError, "decorates functions, got int"),
        (lambda: pyburn.is_autocast_enabled("meta"), RuntimeError, "meta computes nothing"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_what_cannot_be_narrowed_to_warns_and_stays_off(x):
    for dtype in (SINGLE, DOUBLE, pyburn.int32):
        with pytest.warns(UserWarning, match="float16 and bfloat16 only, got .*Disabling"):
            mode = pyburn.autocast("cpu", dtype=dtype)
        with mode:
            assert (x @ x).dtype == SINGLE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pyburn.autocast("cpu", dtype=SINGLE, enabled=False)


@pytest.mark.skipif(pyburn.cuda.is_available(), reason="needs a machine without CUDA")
def test_a_missing_device_warns_and_stays_off(x):
    with pytest.warns(UserWarning, match="cuda is not available. Disabling"):
        mode = pyburn.autocast("cuda")
    with mode:
        assert not pyburn.is_autocast_enabled("cuda")
        assert (x @ x).dtype == SINGLE


def test_the_older_names_for_cuda():
    from pyburn.cuda.amp import GradScaler, autocast, custom_bwd, custom_fwd

    assert issubclass(autocast, pyburn.autocast)
    assert issubclass(GradScaler, pyburn.amp.GradScaler)
    with autocast(enabled=False) as mode:
        assert (mode.device, mode.fast_dtype) == ("cuda", pyburn.float16)
    assert autocast(False, pyburn.bfloat16)(lambda: 3)() == 3
    assert not GradScaler(2.0, enabled=False).is_enabled()

    class Double(pyburn.autograd.Function):
        @staticmethod
        @custom_fwd(cast_inputs=pyburn.float32)
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @custom_bwd
        def backward(ctx, grad):
            return grad * 2

    x = pyburn.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


class Product(pyburn.autograd.Function):
    """Notes the dtypes it is given and computes in."""

    seen: list = []

    @staticmethod
    @pyburn.amp.custom_fwd(device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        y = a.mm(b)
        Product.seen += [a.dtype, y.dtype]
        return y

    @staticmethod
    @pyburn.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        Product.seen += [pyburn.is_autocast_enabled("cpu")]
        return grad.mm(b.t()), a.t().mm(grad)


class Exact(pyburn.autograd.Function):
    @staticmethod
    @pyburn.amp.custom_fwd(device_type="cpu", cast_inputs=pyburn.float32)
    def forward(ctx, a, container, scale=1):
        Exact.seen = [a.dtype, container["b"][0].dtype, container["n"]]
        ctx.used = pyburn.is_autocast_enabled("cpu")
        return a.mm(container["b"][0]) * scale

    @staticmethod
    @pyburn.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        Exact.seen.append(pyburn.is_autocast_enabled("cpu"))
        return grad, None, None


def test_custom_functions_choose_as_their_forward_did(x):
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    for enabled in (True, False):
        Product.seen = []
        with pyburn.autocast("cpu", enabled=enabled):
            y = Product.apply(a, b)
        assert y.dtype == (HALF if enabled else SINGLE)
        y.sum().backward()
        assert Product.seen == [SINGLE, y.dtype, enabled]
    assert a.grad.dtype == SINGLE


def test_custom_functions_with_converted_inputs(h):
    a = h.clone().requires_grad_()
    container = {"b": [h], "n": 3}
    with pyburn.autocast("cpu"):
        y = Exact.apply(a, container)
    assert y.dtype == SINGLE
    y.sum().backward()
    assert Exact.seen == [SINGLE, SINGLE, 3, False]
    assert a.grad.dtype == HALF
    # Outside of autocast nothing is converted.
    assert Exact.apply(a, container).dtype == HALF


def test_custom_functions_name_a_device():
    for decorator in (pyburn.amp.custom_fwd, pyburn.amp.custom_bwd):
        with pytest.raises(ValueError, match="`device_type` of type `str`"):
            decorator(device_type=3)


def test_a_training_step_learns():
    """A small network learns as well with autocast as without."""
    losses = {}
    for enabled in (True, False):
        pyburn.manual_seed(0)
        model = pyburn.nn.Sequential(
            pyburn.nn.Linear(2, 16), pyburn.nn.Tanh(), pyburn.nn.Linear(16, 1)
        )
        optimizer = pyburn.optim.Adam(model.parameters(), lr=0.05)
        x = pyburn.rand(64, 2)
        y = (x[:, :1] - x[:, 1:]).abs()
        for _ in range(300):
            optimizer.zero_grad()
            with pyburn.autocast("cpu", enabled=enabled):
                loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        losses[enabled] = loss.item()
    assert losses[True] < 0.01
    assert losses[False] < 0.01

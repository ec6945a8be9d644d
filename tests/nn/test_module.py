"""The base class: attributes, the tree, moving, modes, errors, PyBurn's additions."""

from __future__ import annotations

import abc
import copy
import gc
import importlib
import inspect
import pickle
import weakref
from typing import Any

import pyburn
import pyburn.module
import pytest
from pyburn import nn


class LinearLayer(pyburn.module.Module):
    """A user's layer, with a method and a property of its own."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(pyburn.ones(outputs, inputs))
        self.bias = nn.Parameter(pyburn.zeros(outputs))
        self.register_buffer("calls", pyburn.zeros((), dtype=pyburn.int64))

    @property
    def size(self) -> int:
        return self.weight.shape[0]

    def double_forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        return self(x) * 2

    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        self.calls += 1
        return x @ self.weight.T + self.bias

    def extra_repr(self) -> str:
        return f"size={self.size}"


def test_a_users_layer_is_a_layer() -> None:
    layer = LinearLayer(3, 2)
    assert isinstance(layer, nn.Module)
    assert layer(pyburn.ones(4, 3)).tolist() == [[3.0, 3.0]] * 4
    assert layer.double_forward(pyburn.ones(3)).tolist() == [6.0, 6.0]
    assert layer.calls.item() == 2
    assert len(layer.parameters()) == 2
    model = nn.Sequential(layer, nn.Identity())
    assert [name for name, _ in model.named_parameters()] == ["0.weight", "0.bias"]
    assert list(model.state_dict()) == ["0.weight", "0.bias", "0.calls"]
    assert repr(model) == "Sequential(\n  (0): LinearLayer(size=2)\n  (1): Identity()\n)"
    model.double()
    assert layer.weight.dtype == pyburn.float64
    assert layer.calls.dtype == pyburn.int64
    model(pyburn.ones(1, 3, dtype=pyburn.float64)).sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.tolist() == [[1.0] * 3] * 2


def test_abstract_and_generic_classes() -> None:
    class Base(nn.Module, abc.ABC):
        @abc.abstractmethod
        def size(self) -> int: ...

    class Leaf(Base):
        def size(self) -> int:
            return 3

    with pytest.raises(TypeError, match="abstract"):
        Base()  # type: ignore[abstract]
    assert Leaf().size() == 3


# Attributes


def test_what_is_assigned_lies_in_its_dictionary_and_is_an_attribute() -> None:
    module = nn.Module()
    module.p = nn.Parameter(pyburn.ones(1))
    module.m = nn.Identity()
    module.register_buffer("b", pyburn.ones(2))
    module.n = 3
    assert list(module._parameters) == ["p"]
    assert list(module._modules) == ["m"]
    assert list(module._buffers) == ["b"]
    for name, store in (("p", "_parameters"), ("m", "_modules"), ("b", "_buffers")):
        assert getattr(module, name) is getattr(module, store)[name]
    assert {"p", "m", "b", "n"} <= set(dir(module))


def test_an_attribute_changes_its_kind() -> None:
    module = nn.Module()
    module.x = 3
    module.x = nn.Parameter(pyburn.ones(1))
    assert "x" in module._parameters
    module.y = nn.Parameter(pyburn.ones(1))
    module.y = None
    assert module._parameters["y"] is None
    assert module.y is None
    module.x = None
    module.x = nn.Parameter(pyburn.zeros(1))
    assert module._parameters["x"] is module.x
    del module.x
    module.x = nn.Identity()
    assert "x" not in module._parameters
    assert module._modules["x"] is module.x
    del module.x
    assert not hasattr(module, "x")
    module.register_buffer("x", pyburn.ones(1), persistent=False)
    del module.x
    assert module._non_persistent_buffers_set == set()
    module.x = nn.Buffer(pyburn.ones(1), persistent=False)
    assert list(module.state_dict()) == []
    module.x = pyburn.zeros(3)
    assert module._buffers["x"].tolist() == [0.0] * 3


def test_the_dictionaries_may_be_written_directly() -> None:
    """As code for PyTorch does; the attributes follow."""
    module = nn.Linear(2, 2)
    other = nn.Parameter(pyburn.zeros(2, 2))
    module._parameters["weight"] = other
    assert module.weight is other
    assert module._parameters.pop("bias") is not None
    assert not hasattr(module, "bias")
    assert module._parameters.pop("bias", None) is None
    module._parameters.update({"bias": None})
    assert module.bias is None
    module._parameters |= {"more": other}
    assert module.more is other
    assert module._parameters.setdefault("more", None) is other
    assert module._parameters.popitem() == ("more", other)
    assert not hasattr(module, "more")
    module._modules["child"] = nn.Identity()
    assert isinstance(module.child, nn.Identity)
    module._modules.clear()
    assert not hasattr(module, "child")
    with pytest.raises(KeyError):
        del module._parameters["more"]
    module._parameters = {"only": other}
    assert module.only is other
    assert not hasattr(module, "weight")
    assert [name for name, _ in module.named_parameters()] == ["only"]


def test_a_replica_with_dictionaries_of_its_own() -> None:
    module = nn.Linear(2, 2)
    replica = module.__new__(type(module))
    replica.__dict__ = module.__dict__.copy()
    replica._parameters = dict(module._parameters)
    replica.weight = nn.Parameter(pyburn.zeros(2, 2))
    assert module.weight is not replica.weight
    assert module._parameters["weight"] is module.weight
    assert replica._parameters["weight"] is replica.weight


def test_modules_are_freed_without_the_collector() -> None:
    """No cycle keeps a model's memory."""
    gc.disable()
    try:
        module = nn.Sequential(nn.Linear(2, 2), nn.Identity())
        alive = weakref.ref(module)
        weight = weakref.ref(module[0].weight)
        module(pyburn.ones(2))
        del module
        assert alive() is None
        assert weight() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda m: setattr(m, "w", pyburn.ones(1)), TypeError, "as parameter 'w'"),
        (lambda m: setattr(m, "k", 3), TypeError, "cannot assign 'int' as child module 'k'"),
        (lambda m: setattr(m, "b", 3), TypeError, "cannot assign 'int' as buffer 'b'"),
        (lambda m: m.register_parameter("a.b", None), KeyError, 'contain "."'),
        (lambda m: m.register_parameter("", None), KeyError, "empty string"),
        (lambda m: m.register_parameter(3, None), TypeError, "should be a string. Got int"),
        (lambda m: m.register_parameter("training", None), KeyError, "already exists"),
        (lambda m: m.register_parameter("q", pyburn.ones(1)), TypeError, "to parameter 'q'"),
        (lambda m: m.register_buffer("w", None), KeyError, "already exists"),
        (lambda m: m.register_buffer("train", None), KeyError, "already exists"),
        (lambda m: m.register_buffer("q", 3), TypeError, "cannot assign 'int' object to buffer"),
        (lambda m: m.add_module("q", 3), TypeError, "int is not a Module subclass"),
        (lambda m: m.add_module("w", nn.Identity()), KeyError, "already exists"),
        (lambda m: m.add_module("a.b", nn.Identity()), KeyError, 'contain "."'),
        (lambda m: m.nothing, AttributeError, "'Module' object has no attribute 'nothing'"),
        (lambda m: delattr(m, "nothing"), AttributeError, "nothing"),
        (lambda m: m(1), NotImplementedError, r'Module \[Module\] is missing the required "forw'),
        (lambda m: m.train(1), ValueError, "boolean"),
        (lambda m: nn.Module(1), TypeError, "takes no arguments, got 1 positional"),
        (lambda m: nn.Module(a=1), TypeError, "takes no arguments, got the keyword 'a'"),
        (lambda m: m.get_submodule("k.x"), AttributeError, "Identity has no attribute `x`"),
        (lambda m: m.get_submodule("w"), AttributeError, "`w` is not an nn.Module"),
        (lambda m: m.get_parameter("k"), AttributeError, "`k` is not an nn.Parameter"),
        (lambda m: m.get_buffer("w"), AttributeError, "`w` is not a buffer"),
        (lambda m: m.set_submodule("", nn.Identity()), ValueError, "without a target name"),
        (lambda m: m.set_submodule("k", 3), ValueError, "is not an nn.Module"),
        (lambda m: m.set_submodule("w", nn.Identity()), AttributeError, "is not an nn.Module"),
        (lambda m: m.set_submodule("z", nn.Identity(), strict=True), AttributeError, "no attrib"),
        (lambda m: m.to(pyburn.int32), TypeError, "only accepts floating point or complex"),
        (lambda m: m.to("nonsense"), RuntimeError, "device: expected one of cpu"),
        (lambda m: m.to(nothing=3), TypeError, "unexpected keyword argument 'nothing'"),
        (lambda m: m.share_memory(), NotImplementedError, "Module.share_memory: tensors do not"),
        (lambda m: m.compile(), NotImplementedError, "Module.compile: there is no compiler"),
    ],
)
def test_wrong_use_is_refused(act: Any, error: type[Exception], text: str) -> None:
    module = nn.Module()
    module.w = nn.Parameter(pyburn.ones(1))
    module.k = nn.Identity()
    module.register_buffer("b", pyburn.ones(1))
    before = {name: tensor.tolist() for name, tensor in module.state_dict().items()}
    with pytest.raises(error, match=text):
        act(module)
    assert {name: tensor.tolist() for name, tensor in module.state_dict().items()} == before


def test_a_computed_tensor_is_no_parameter() -> None:
    class Odd(nn.Parameter):
        pass

    module = nn.Module()
    computed = Odd(pyburn.ones(1))
    grown = computed * 2
    grown.__class__ = type(computed)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        module.register_parameter("w", grown)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [nn.Parameter(pyburn.ones(1)), nn.Identity(), nn.Buffer()])
def test_init_must_have_been_called(value: Any) -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.value = value

    with pytest.raises(AttributeError, match=r"before Module\.__init__\(\) call"):
        Early()


def test_a_property_that_fails_says_so() -> None:
    class Broken(nn.Module):
        @property
        def wrong(self) -> Any:
            raise AttributeError("inside")

    with pytest.raises(AttributeError):
        _ = Broken().wrong


def test_super_getattr_works() -> None:
    """Wrappers ask the base class first."""

    class Wrapper(nn.Module):
        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.module, name)

    wrapper = Wrapper(nn.Linear(2, 3))
    assert wrapper.in_features == 2
    assert wrapper.module.out_features == 3
    with pytest.raises(AttributeError, match="nothing"):
        _ = wrapper.nothing


# The tree


def test_shared_parts_are_found_once() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    names = [name for name, _ in model.named_parameters()]
    assert names == ["0.weight", "0.bias", "1.bias"]
    every = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    assert every == ["0.weight", "0.bias", "1.weight", "1.bias"]
    twice = nn.ModuleList([model[0], model[0]])
    assert len(twice.children()) == 1
    assert len(twice.modules()) == 2
    assert [name for name, _ in twice.named_modules(remove_duplicate=False)] == ["", "0", "1"]


def test_names_have_the_prefix() -> None:
    model = nn.Sequential(nn.Linear(1, 1, bias=False))
    assert [name for name, _ in model.named_parameters("m")] == ["m.0.weight"]
    assert [name for name, _ in model.named_modules(prefix="m")] == ["m", "m.0"]
    assert [name for name, _ in model.named_parameters(recurse=False)] == []
    assert [name for name, _ in model.named_children()] == ["0"]


def test_listings_are_iterators_with_a_length() -> None:
    layer = nn.Linear(2, 3)
    listing = layer.parameters()
    assert next(listing) is layer.weight
    assert len(listing) == 2
    assert next(listing) is layer.bias
    assert next(listing, None) is None
    assert len(listing) == 2
    assert [id(p) for p in layer.parameters()] == [id(layer.weight), id(layer.bias)]
    assert layer.parameters()[-1] is layer.bias
    assert dict(layer.named_parameters())["bias"] is layer.bias
    assert len(nn.Identity().parameters()) == 0
    assert iter(listing) is listing


def test_listings_look_only_as_far_as_they_are_read() -> None:
    class Slow(nn.Module):
        def named_children(self) -> Any:
            raise AssertionError("not asked for")

    model = nn.Sequential(nn.Linear(1, 1))
    model[0]._modules = {"inner": Slow()}
    assert next(model.parameters()) is model[0].weight


def test_paths() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    assert model.get_submodule("") is model
    assert model.get_submodule("0.0") is model[0][0]
    assert model.get_parameter("0.0.bias") is model[0][0].bias
    model[0].register_buffer("b", pyburn.ones(1))
    assert model.get_buffer("0.b") is model[0].b
    model.set_submodule("0.0", nn.Identity())
    assert isinstance(model[0][0], nn.Identity)
    model.set_submodule("0.new", nn.Flatten())
    assert isinstance(model[0].new, nn.Flatten)


def test_apply_visits_children_first() -> None:
    seen: list[str] = []
    model = nn.Sequential(nn.Identity(), nn.Flatten())
    assert model.apply(lambda module: seen.append(type(module).__name__)) is model
    assert seen == ["Identity", "Flatten", "Sequential"]


# Moving


def test_parameters_stay_the_same_objects() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    weight.grad = pyburn.ones(2, 2)
    layer.double()
    assert layer.weight is weight
    assert weight.dtype == pyburn.float64
    assert weight.grad is not None
    assert weight.grad.dtype == pyburn.float64
    assert weight.requires_grad
    assert weight.is_leaf
    layer.to("meta")
    assert weight.is_meta
    assert weight.grad is not None
    assert weight.grad.is_meta


@pytest.mark.parametrize(
    ("move", "dtype"),
    [
        (lambda m: m.half(), "float16"),
        (lambda m: m.bfloat16(), "bfloat16"),
        (lambda m: m.double(), "float64"),
        (lambda m: m.double().float(), "float32"),
        (lambda m: m.to(pyburn.float64), "float64"),
        (lambda m: m.to(dtype="float16"), "float16"),
        (lambda m: m.to("float16"), "float16"),
        (lambda m: m.to("cpu", pyburn.float64), "float64"),
        (lambda m: m.to(pyburn.ones(1, dtype=pyburn.float64)), "float64"),
        (lambda m: m.to(device="cpu", dtype=pyburn.float64, non_blocking=True), "float64"),
        (lambda m: m.to(backend="ndarray"), "float32"),
        (lambda m: m.to("cpu", None, True), "float32"),
        (lambda m: m.cpu(), "float32"),
    ],
)
def test_only_floats_are_converted(move: Any, dtype: str) -> None:
    module = nn.Linear(2, 2)
    module.register_buffer("count", pyburn.zeros(1, dtype=pyburn.int64))
    module.register_buffer("mean", pyburn.zeros(1))
    assert move(module) is module
    assert module.weight.dtype == getattr(pyburn, dtype)
    assert module.mean.dtype == getattr(pyburn, dtype)
    assert module.count.dtype == pyburn.int64


def test_complex_parameters_convert_to_complex_only() -> None:
    module = nn.Module()
    module.z = nn.Parameter(pyburn.ones(1, dtype=pyburn.complex64))
    module.to(pyburn.complex128)
    assert module.z.dtype == pyburn.complex128
    module.float()
    assert module.z.dtype == pyburn.complex128


def test_type_converts_everything() -> None:
    module = nn.Module()
    module.register_buffer("count", pyburn.zeros(1, dtype=pyburn.int64))
    assert module.type(pyburn.float64).count.dtype == pyburn.float64


def test_tied_parameters_stay_tied() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    model.double()
    assert model[1].weight is model[0].weight


def test_to_empty() -> None:
    layer = nn.Linear(2, 2, device="meta")
    assert layer.weight.is_meta
    layer.to_empty(device="cpu")
    assert not layer.weight.is_meta
    assert layer.weight.shape == (2, 2)


def test_a_missing_device_leaves_the_module_alone() -> None:
    layer = nn.Linear(2, 2)
    if pyburn.backend.is_available("cuda:7"):
        pytest.skip("there are that many GPUs")
    with pytest.raises(pyburn.DeviceError):
        layer.cuda(7)
    assert layer.weight.device.type == "cpu"


# Modes


def test_modes() -> None:
    model = nn.Sequential(nn.Sequential(nn.Identity()))
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    assert all(module.training for module in model.train().modules())


def test_requires_grad_and_zero_grad() -> None:
    layer = nn.Linear(2, 2)
    assert layer.requires_grad_(False) is layer
    assert not any(parameter.requires_grad for parameter in layer.parameters())
    layer.requires_grad_()
    layer(pyburn.ones(2)).sum().backward()
    grad = layer.weight.grad
    assert grad is not None
    layer.zero_grad(set_to_none=False)
    assert grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    layer.zero_grad()
    assert layer.weight.grad is None


# Copies


def test_copies_have_memory_of_their_own() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    model[0].weight.grad = pyburn.ones(2, 2)
    for made in (copy.deepcopy(model), model.clone(), pickle.loads(pickle.dumps(model))):
        assert made[0].weight is made[1].weight
        assert type(made[0].weight) is nn.Parameter
        assert made[0].weight.requires_grad
        assert made[0].weight.equal(model[0].weight)
        assert made._modules["0"] is made[0]
        with pyburn.no_grad():
            made[0].weight.zero_()
        assert not model[0].weight.equal(made[0].weight)
        made[0].weight = nn.Parameter(pyburn.ones(2, 2))
        assert made[0]._parameters["weight"] is made[0].weight
        assert model[0].weight is model[1].weight


def test_a_users_own_pickling() -> None:
    module = _Pickled()
    made = pickle.loads(pickle.dumps(module))
    assert made.scratch is None
    assert made.weight.equal(module.weight)
    made._parameters["weight"] = nn.Parameter(pyburn.zeros(1))
    assert made.weight.item() == 0


class _Pickled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(pyburn.ones(1))
        self.scratch: Any = lambda: None

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["scratch"] = None
        return state


# Errors inside of models


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Identity(), nn.Linear(2, 3), nn.Linear(2, 3)])

    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        return self.encoder(x)


def test_errors_name_the_path() -> None:
    model = Model(Encoder())
    with pytest.raises(RuntimeError, match=r"^encoder\.layers\.2: linear: "):
        model(pyburn.ones(4, 2))
    # Hooks do not change that.
    model.register_forward_hook(lambda module, args, output: None)
    with pytest.raises(RuntimeError, match=r"^encoder\.layers\.2: linear: "):
        model(pyburn.ones(4, 2))
    with pytest.raises(RuntimeError, match=r"^linear: "):
        nn.Linear(2, 3)(pyburn.ones(4))


class _Raises(nn.Module):
    def __init__(self, fault: BaseException) -> None:
        super().__init__()
        self.fault = fault

    def forward(self, x: Any) -> Any:
        raise self.fault


class _Frozen(Exception):
    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (ValueError("wrong"), "encoder.0: wrong"),
        (KeyError("name"), "'name'"),
        (OSError(2, "gone"), "[Errno 2] gone"),
        (ValueError(), ""),
        (ValueError(3), "3"),
        (_Frozen("hard"), "hard"),
        (KeyboardInterrupt("now"), "now"),
    ],
)
def test_the_class_of_an_error_stays(fault: BaseException, text: str) -> None:
    with pytest.raises(type(fault)) as caught:
        Model(nn.Sequential(_Raises(fault)))(1)
    assert caught.value is fault
    assert str(fault) == text


def test_errors_of_modules_that_are_no_part() -> None:
    stray = nn.Sequential(_Raises(ValueError("wrong")))

    class Uses(nn.Module):
        def forward(self, x: Any) -> Any:
            return stray(x)

    with pytest.raises(ValueError, match=r"^encoder: wrong$"):
        Model(Uses())(1)


def test_an_error_that_is_handled_inside() -> None:
    class Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = _Raises(ValueError("wrong"))

        def forward(self, x: Any) -> Any:
            try:
                return self.inner(x)
            except ValueError as fault:
                return str(fault)

    assert Careful()(1) == "wrong"


# Additions


def test_counting_and_freezing() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    assert model.num_params() == 13
    assert model[0].freeze() is model[0]
    assert model.num_params(trainable_only=True) == 4
    assert model.autodiff
    assert not model[0].autodiff
    model.unfreeze()
    assert model.num_params(trainable_only=True) == 13
    model.autodiff = False
    assert not model.autodiff
    assert model.num_params(trainable_only=True) == 0
    assert nn.Identity().autodiff


def test_visit_sees_parameters_and_buffers() -> None:
    module = nn.Linear(1, 1)
    module.register_buffer("b", pyburn.ones(1))
    seen: dict[str, Any] = {}
    assert module.visit(seen.__setitem__) is module
    assert list(seen) == ["weight", "bias", "b"]
    assert seen["weight"] is module.weight


def test_where_a_module_is() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    assert layer.backend == "ndarray"
    assert layer.device == pyburn.device("cpu")
    assert layer.fusion is False
    assert "CPU" in (inspect.getdoc(nn.Module.fusion) or "")
    layer.backend = "meta"
    assert layer.weight is weight
    assert weight.is_meta
    assert layer.backend == "meta"
    assert nn.Identity().device == pyburn.get_default_device()
    assert nn.Linear(1, 1).half().dtype == pyburn.float16
    assert nn.Identity().dtype == pyburn.get_default_dtype()
    with pytest.raises(RuntimeError, match=r"Linear\.backend: device: expected one of.*hint"):
        layer.backend = "nonsense"


def test_users_may_take_the_names() -> None:
    class Taken(nn.Module):
        backend = None

        def __init__(self) -> None:
            super().__init__()
            self.device = "mine"
            self.dtype = 3
            self.summary = nn.Linear(1, 1)
            self.clone = nn.Parameter(pyburn.ones(1))
            self.register_buffer("visit", pyburn.zeros(1))
            self.add_module("fusion", nn.Identity())
            self.backend = "soundfile"
            self.autodiff = nn.Identity()

    taken = Taken()
    assert (taken.device, taken.dtype, taken.backend) == ("mine", 3, "soundfile")
    assert isinstance(taken.summary, nn.Linear)
    assert isinstance(taken.clone, nn.Parameter)
    assert taken.visit.tolist() == [0.0]
    assert isinstance(taken.fusion, nn.Identity)
    assert isinstance(taken.autodiff, nn.Identity)
    del taken.summary
    assert callable(taken.summary)
    assert taken.num_params() == 1


@pytest.mark.parametrize("extension", ["safetensors", "npz", "pt"])
def test_saving_and_loading(extension: str, tmp_path: Any) -> None:
    one, other = (nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)) for _ in range(2))
    path = tmp_path / f"m.{extension}"
    one.save(path)
    assert other.load(path) is other
    x = pyburn.randn(5, 3)
    assert other(x).equal(one(x))


def test_loading_what_does_not_fit(tmp_path: Any) -> None:
    path = tmp_path / "m.safetensors"
    nn.Linear(3, 2).save(path)
    layer = nn.Linear(2, 2)
    before = layer.weight.clone()
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        layer.load(path)
    assert layer.weight.equal(before)


# Parameters


def test_parameters() -> None:
    data = pyburn.ones(2)
    parameter = nn.Parameter(data)
    data[0] = 5
    assert parameter.tolist() == [5.0, 1.0]
    assert isinstance(parameter, pyburn.Tensor)
    assert parameter.requires_grad
    assert parameter.is_leaf
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert nn.Parameter().shape == (0,)
    assert type(parameter * 2) is pyburn.Tensor
    assert type(parameter.detach()) is pyburn.Tensor
    text = "Parameter containing:\ntensor([5., 1.], requires_grad=True)"
    assert repr(parameter) == str(parameter) == text
    for made in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(made) is nn.Parameter
        assert made.requires_grad
        assert made.equal(parameter)
    frozen = copy.deepcopy(nn.Parameter(data, requires_grad=False))
    assert not frozen.requires_grad
    with pytest.raises(TypeError, match="Parameter: expected a Tensor, got list"):
        nn.Parameter([1.0])  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(pyburn.arange(3))
    assert nn.Parameter(pyburn.arange(3), requires_grad=False).dtype == pyburn.int64


def test_a_parameter_of_a_computed_tensor_has_no_history() -> None:
    x = pyburn.ones(2, requires_grad=True)
    parameter = nn.Parameter(x * 2)
    assert parameter.is_leaf
    parameter.sum().backward()
    assert x.grad is None


def test_buffers() -> None:
    buffer = nn.Buffer(pyburn.ones(2))
    assert buffer.persistent
    assert not buffer.requires_grad
    assert repr(buffer) == str(buffer) == "tensor([1., 1.])"
    assert type(copy.deepcopy(buffer)) is nn.Buffer
    assert copy.deepcopy(nn.Buffer(pyburn.ones(1), persistent=False)).persistent is False


# The table


def test_summary() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.Sequential(nn.Linear(3, 2), nn.Identity()))
    model[0].freeze()
    before = [parameter.clone() for parameter in model.parameters()]
    summary = model.summary((8, 4))
    assert summary.total_params == 23
    assert summary.trainable_params == 8
    assert summary.bytes == 92
    assert [(row.path, row.output) for row in summary.rows] == [
        ("", (8, 2)),
        ("0", (8, 3)),
        ("1", (8, 2)),
        ("1.0", (8, 2)),
        ("1.1", (8, 2)),
    ]
    text = str(summary)
    assert "  0 (Linear)" in text
    assert "(8, 3)" in text
    assert "parameters: 23 (8 trainable), 92 bytes" in text
    assert all(a.equal(b) for a, b in zip(before, model.parameters(), strict=True))
    assert model.training
    assert not model[0]._forward_hooks
    assert [row.path for row in model.summary((8, 4), depth=1).rows] == ["", "0", "1"]
    assert model.summary().rows[0].output is None
    assert model.summary(input_size=(8, 4)).rows[0].output == (8, 2)
    assert model.summary(input_size=[(8, 4)]).rows[0].output == (8, 2)
    assert model.summary(pyburn.ones(8, 4)).rows[0].output == (8, 2)


def test_summary_of_a_large_model_computes_nothing() -> None:
    """No more memory than the parameters have: a batch of this size could not be computed."""
    model = nn.Sequential(nn.Linear(8, 8), nn.Identity())
    assert model.summary((2**40, 8)).rows[0].output == (2**40, 8)


def test_summary_runs_hooks_of_nobody_and_changes_no_buffer() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", pyburn.zeros(1))
            self.table = pyburn.ones(3)

        def forward(self, a: pyburn.Tensor, b: pyburn.Tensor) -> Any:
            self.count += 1
            return {"sum": a + b * self.table, "list": [a, 3]}

    module = Counting()
    called: list[int] = []
    module.register_forward_hook(lambda *args: called.append(1))
    summary = module.summary((2, 3), (2, 3), dtype=[pyburn.float32, pyburn.int64])
    assert summary.rows[0].output == {"sum": (2, 3), "list": [(2, 3), "int"]}
    assert module.count.item() == 0
    assert not called


def test_summary_says_what_it_cannot() -> None:
    class Reads(nn.Module):
        def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
            return x * x.sum().item()

    with pytest.raises(RuntimeError, match=r"summary: Reads does not take inputs of shapes \(3,\)"):
        Reads().summary((3,))
    with pytest.raises(RuntimeError, match=r"summary: Linear .* linear: "):
        nn.Linear(2, 2).summary((3, 3))
    with pytest.raises(TypeError, match="expected each input as a shape"):
        nn.Linear(2, 2).summary(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="shapes or input_size, got both"):
        nn.Linear(2, 2).summary((3, 3), input_size=(3, 3))
    with pytest.raises(ValueError, match="1 inputs and 2 dtypes"):
        nn.Linear(2, 2).summary((3, 3), dtype=[pyburn.float32] * 2)


def test_pytorchs_paths() -> None:
    from pyburn.nn.modules.container import Sequential
    from pyburn.nn.modules.linear import Linear
    from pyburn.nn.modules.module import Module
    from pyburn.nn.modules.utils import _pair, consume_prefix_in_state_dict_if_present

    assert (Module, Linear, Sequential) == (nn.Module, nn.Linear, nn.Sequential)
    from pyburn.nn.modules import batchnorm, flatten
    from pyburn.nn.modules.batchnorm import _BatchNorm

    assert issubclass(nn.BatchNorm2d, _BatchNorm)
    assert flatten.Flatten is nn.Flatten
    with pytest.raises(AttributeError, match="'pyburn.nn.modules.batchnorm' has no attribute"):
        _ = batchnorm._Nothing
    with pytest.raises(ImportError):
        importlib.import_module("pyburn.nn.modules.nothing")
    assert _pair(3) == _pair([3, 3]) == (3, 3)
    state = nn.Sequential(nn.Linear(1, 1)).state_dict()
    consume_prefix_in_state_dict_if_present(state, "0.")
    assert list(state) == ["weight", "bias"]
    assert nn.Linear(1, 1).load_state_dict(state).missing_keys == []

"""Groups, state, saving and hooks: what all optimizers share."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pyburn as pb
import pytest
from pyburn import optim

EVERY = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Adan",
    "Lamb",
    "Lion",
    "Muon",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
]


def leaf(*values, dtype=pb.float32):
    return pb.tensor(values, dtype=dtype, requires_grad=True)


def matrices(seed=0):
    rng = np.random.default_rng(seed)
    return [
        pb.tensor(rng.normal(size=s).astype("float32"), requires_grad=True)
        for s in [(3, 2), (2, 4)]
    ]


def train(optimizer, params, steps, start=0):
    """Steps whose gradients depend on their number and on the weights."""
    for step in range(start, start + steps):
        optimizer.zero_grad()
        loss = sum(((p * (step + 1) - at - 1) ** 2).sum() for at, p in enumerate(params))
        loss.backward()
        optimizer.step()


def make(name, params, **options):
    chosen = {"momentum": 0.9} if name == "SGD" else {}
    return getattr(optim, name)(params, lr=0.01, **chosen, **options)


# Groups.


def test_every_public_class_is_tested():
    public = {
        name
        for name in optim.__all__
        if isinstance(getattr(optim, name), type) and name not in ("Optimizer", "LBFGS")
    }
    assert public == set(EVERY)


def test_parameters_become_one_group_with_all_options():
    a, b = leaf(1.0), leaf(2.0)
    optimizer = optim.SGD([a, b], lr=0.5)
    (group,) = optimizer.param_groups
    assert group["params"] == [a, b]
    assert (group["lr"], group["momentum"], group["nesterov"]) == (0.5, 0, False)
    assert optimizer.defaults["lr"] == 0.5


def test_groups_have_options_of_their_own():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1)
    for p in (a, b):
        p.grad = pb.ones(1)
    optimizer.step()
    assert a.item() == pytest.approx(0.9)
    assert b.item() == 0.0


def test_a_generator_is_taken():
    params = matrices()
    optimizer = optim.Adam(p for p in params)
    assert optimizer.param_groups[0]["params"] == params


@pytest.mark.parametrize(
    ("params", "error", "text"),
    [
        (lambda: leaf(1.0), TypeError, "params argument given to the optimizer should be an iter"),
        (lambda: [], ValueError, "optimizer got an empty parameter list"),
        (lambda: [1.0], TypeError, "optimizer can only optimize Tensors, but one of the params is"),
        (lambda: [leaf(1.0) * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: [{"params": {leaf(1.0)}}], TypeError, "need to be organized in ordered collec"),
        (lambda: [("w", leaf(1.0)), leaf(2.0)], ValueError, "Some param names are missing"),
        (
            lambda: [{"params": [leaf(1.0)]}, {"params": [("w", leaf(1.0))]}],
            ValueError,
            "cannot add param group with names to the optimizer",
        ),
        (
            lambda: [{"params": [("w", leaf(1.0))]}, {"params": [leaf(1.0)]}],
            ValueError,
            "cannot add param group without names to the optimizer",
        ),
    ],
)
def test_wrong_parameters_are_refused(params, error, text):
    with pytest.raises(error, match=text):
        optim.SGD(params())


def test_parameters_belong_to_one_group():
    a = leaf(1.0)
    with pytest.raises(ValueError, match="appear in more than one parameter group"):
        optim.SGD([{"params": a}, {"params": a}])
    optimizer = optim.SGD([a])
    with pytest.raises(ValueError, match="appear in more than one parameter group"):
        optimizer.add_param_group({"params": [leaf(2.0), a]})
    with pytest.raises(TypeError, match="param_group must be a dict"):
        optimizer.add_param_group([a])


def test_repeated_and_unordered_parameters_are_warned_of():
    a = leaf(1.0)
    with pytest.warns(UserWarning, match="a parameter group with duplicate parameters"):
        optimizer = optim.SGD([a, a], lr=0.25)
    with pytest.warns(FutureWarning, match="need to be organized in ordered collections"):
        optim.SGD({leaf(1.0)})
    # Each mention is a step.
    a.grad = pb.ones(1)
    optimizer.step()
    assert a.item() == 0.5


def test_repeated_parameters_count_their_steps():
    a = leaf(1.0)
    with pytest.warns(UserWarning, match="duplicate"):
        optimizer = optim.Adam([a, a], lr=0.1)
    a.grad = pb.ones(1)
    optimizer.step()
    assert optimizer.state[a]["step"].item() == 2


def test_required_options():
    class Plain(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": optim.optimizer.required})

    with pytest.raises(ValueError, match="didn't specify a value of required .* lr"):
        Plain([leaf(1.0)])
    assert Plain([{"params": leaf(1.0), "lr": 1}]).param_groups[0]["lr"] == 1


def test_names_of_parameters_are_kept():
    optimizer = optim.SGD([("weight", leaf(1.0)), ("bias", leaf(2.0))])
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["param_names"] == ["weight", "bias"]
    plain = optim.SGD([leaf(1.0), leaf(2.0)])
    plain.load_state_dict(saved)
    assert plain.param_groups[0]["param_names"] == ["weight", "bias"]
    other = optim.SGD([("a", leaf(1.0)), ("b", leaf(2.0))])
    other.load_state_dict(optim.SGD([leaf(1.0), leaf(2.0)]).state_dict())
    assert other.param_groups[0]["param_names"] == ["a", "b"]


def test_repr():
    text = repr(optim.SGD([{"params": leaf(1.0)}, {"params": leaf(1.0), "lr": 2}], lr=0.5))
    assert text == (
        "SGD (\n"
        "Parameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 0.5\n    maximize: False\n    momentum: 0\n"
        "    nesterov: False\n    weight_decay: 0\n"
        "\nParameter Group 1\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 2\n    maximize: False\n    momentum: 0\n"
        "    nesterov: False\n    weight_decay: 0\n)"
    )


def test_a_class_without_step_says_so():
    class Nothing(optim.Optimizer):
        pass

    with pytest.raises(NotImplementedError, match="Nothing: expected a method step"):
        Nothing([leaf(1.0)], {}).step()


# Steps.


def test_a_parameter_without_gradient_stays_and_gets_no_state():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.Adam([a, b])
    a.grad = pb.ones(1)
    optimizer.step()
    assert b.item() == 1.0
    assert b not in optimizer.state
    assert a in optimizer.state


def test_zero_grad():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.SGD([a, b])
    (a * a).sum().backward(create_graph=True)
    grad = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is not None
    assert a.grad.item() == 0.0
    assert not a.grad.requires_grad
    assert grad.item() == 0.0
    assert b.grad is None
    optimizer.zero_grad()
    assert a.grad is None


@pytest.mark.parametrize("name", EVERY)
def test_closure(name):
    params = matrices()
    optimizer = make(name, params)
    seen = []

    def closure():
        assert pb.is_grad_enabled()
        optimizer.zero_grad()
        loss = sum((p * p).sum() for p in params)
        loss.backward()
        seen.append(loss.item())
        return loss

    with pb.no_grad():
        losses = [optimizer.step(closure).item() for _ in range(5)]
    assert losses == seen
    assert losses[-1] < losses[0]
    assert not any(p.grad is None for p in params)
    optimizer.zero_grad()
    assert optimizer.step() is None


@pytest.mark.parametrize("name", EVERY)
def test_an_update_is_an_in_place_write(name):
    (w,) = [matrices()[0]]
    before = w.detach()
    optimizer = make(name, [w])
    loss = (w * w * w).sum()
    loss.backward(retain_graph=True)
    version = w._version
    optimizer.step()
    assert w._version > version
    assert w.is_leaf
    assert w.requires_grad
    # Views see it, and a graph from before refuses the changed value.
    assert pb.equal(before, w.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_gradients_with_a_history_are_used_as_numbers():
    a = leaf(3.0)
    (a * a).sum().backward(create_graph=True)
    optimizer = optim.Adam([a], lr=0.1)
    optimizer.step()
    assert a.item() == pytest.approx(2.9)
    assert not optimizer.state[a]["exp_avg"].requires_grad


def test_parameters_of_several_dtypes_in_one_group():
    params = [leaf(1.0), leaf(1.0, dtype=pb.float64), leaf(1.0, dtype=pb.bfloat16)]
    optimizer = optim.Adam(params, lr=0.5)
    for p in params:
        p.grad = pb.ones_like(p)
    optimizer.step()
    assert [p.item() for p in params] == pytest.approx([0.5] * 3)
    assert [optimizer.state[p]["exp_avg"].dtype for p in params] == [p.dtype for p in params]


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda base: base.t(), id="transposed"),
        pytest.param(lambda base: base[::2], id="stepped"),
        pytest.param(lambda base: base[1:, 1:3], id="part"),
    ],
)
@pytest.mark.parametrize("where", ["param", "grad", "state"])
def test_layouts(view, where):
    """Parameters, gradients and state that do not lie in one run of memory."""
    base = pb.arange(24.0).reshape(6, 4) / 10
    plain = view(base).clone().requires_grad_()
    strange = view(base).detach() if where == "param" else plain.detach().clone()
    outside = base.sum() - view(base).sum()
    strange.requires_grad_()
    grads = [view(pb.arange(24.0).reshape(6, 4).cos() * (k + 1)) for k in range(3)]
    optimizers = [optim.Adam([p], lr=0.1) for p in (plain, strange)]
    for grad in grads:
        plain.grad = grad.contiguous()
        strange.grad = grad if where == "grad" else grad.contiguous()
        for optimizer in optimizers:
            optimizer.step()
        if where == "state":
            state = optimizers[1].state[strange]
            base_state = pb.zeros(6, 4)
            view(base_state).copy_(state["exp_avg"])
            state["exp_avg"] = view(base_state)
    assert pb.equal(plain.detach(), strange.detach())
    if where == "param" and strange._is_view():
        # The rest of the memory is as it was.
        assert pb.allclose(base.sum() - view(base).sum(), outside)


def test_parameters_that_share_one_block_of_memory():
    """Parts of one flat vector, as `vector_to_parameters` leaves them."""
    flat = pb.arange(12.0)
    params = [flat[:5].requires_grad_(), flat[5:].view(7).requires_grad_()]
    optimizer = optim.Adam(params, lr=0.5)
    for p in params:
        p.grad = pb.ones_like(p)
    optimizer.step()
    assert pb.allclose(flat, pb.arange(12.0) - 0.5)


def test_overlapping_parameters_are_updated_one_after_the_other():
    memory = np.zeros(6, dtype="float32")
    params = [pb.from_numpy(part).requires_grad_() for part in (memory[:4], memory[2:])]
    optimizer = optim.SGD(params, lr=1.0, momentum=0.5)
    for p in params:
        p.grad = pb.ones(4)
    optimizer.step()
    assert memory.tolist() == [-1, -1, -2, -2, -1, -1]


def test_a_gradient_that_is_the_parameter_itself():
    a = leaf(2.0, 4.0)
    a.grad = a.detach()
    optim.SGD([a], lr=0.5, momentum=0.9).step()
    assert a.tolist() == [1.0, 2.0]


def test_one_number_as_a_whole_parameter_is_refused():
    a = pb.zeros(1).expand(3).requires_grad_()
    a.grad = pb.ones(3)
    with pytest.raises(RuntimeError, match="SGD: .*more than one element of parameter 0"):
        optim.SGD([a]).step()


def test_gradients_and_state_must_fit_the_parameter():
    a = leaf(1.0, 2.0)
    optimizer = optim.Adam([a])
    a.grad = pb.ones(2)
    optimizer.step()
    optimizer.state[a]["exp_avg"] = pb.zeros(3)
    with pytest.raises(RuntimeError, match=r"Adam: expected 'exp_avg' of param.*\[2\].*\[3\]"):
        optimizer.step()
    optimizer.state[a]["exp_avg"] = pb.zeros(2)
    optimizer.state[a]["step"] = pb.zeros(2)
    with pytest.raises(RuntimeError, match="expected 'step' of parameter 0 to be one number"):
        optimizer.step()
    optimizer.state[a]["step"] = 3
    with pytest.raises(TypeError, match="expected a tensor as 'step' of parameter 0, got int"):
        optimizer.step()
    a.data = a.data.double()
    with pytest.raises(RuntimeError, match="expected a gradient of shape .* dtype float64"):
        optim.Adam([a]).step()


def test_nothing_is_written_when_a_later_parameter_is_wrong():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.Adam([a, b])
    for p in (a, b):
        p.grad = pb.ones(1)
    b.data = pb.ones(1, dtype=pb.float64)
    with pytest.raises(RuntimeError, match="parameter 1"):
        optimizer.step()
    assert a.item() == 1.0
    assert optimizer.state[a]["step"].item() == 0


def test_an_option_changed_too_late_names_the_missing_state():
    a = leaf(1.0)
    optimizer = optim.Adam([a])
    a.grad = pb.ones(1)
    optimizer.step()
    optimizer.param_groups[0]["amsgrad"] = True
    with pytest.raises(KeyError, match="Adam: the state of parameter 0 has no 'max_exp_avg_sq'"):
        optimizer.step()


def test_momentum_may_begin_later():
    a = leaf(1.0)
    optimizer = optim.SGD([a], lr=1.0)
    a.grad = pb.ones(1)
    optimizer.step()
    assert a not in optimizer.state
    optimizer.param_groups[0]["momentum"] = 0.5
    optimizer.step()
    optimizer.step()
    assert a.item() == pytest.approx(1 - 1 - 1 - 1.5)


def test_options_may_be_tensors():
    a, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    both = [
        optim.Adam([a], lr=0.1, betas=(0.8, 0.9)),
        optim.Adam([b], lr=pb.tensor([0.1]), betas=(pb.tensor(0.8), pb.tensor([[0.9]]))),
    ]
    for p, optimizer in zip((a, b), both, strict=True):
        for _ in range(3):
            p.grad = pb.cos(p.detach())
            optimizer.step()
    assert pb.allclose(a, b)


def test_the_dtype_of_step_counts_follows_the_default():
    before = pb.get_default_dtype()
    pb.set_default_dtype(pb.float64)
    try:
        a = leaf(1.0)
        optimizer = optim.Adam([a])
        a.grad = pb.ones_like(a)
        for _ in range(2):
            optimizer.step()
        step = optimizer.state[a]["step"]
        assert (step.dtype, step.item()) == (pb.float64, 2.0)
    finally:
        pb.set_default_dtype(before)


def test_meta_parameters_have_shapes_only():
    a = pb.zeros(2, 3, device="meta", requires_grad=True)
    a.grad = pb.zeros(2, 3, device="meta")
    optimizer = optim.AdamW([a])
    optimizer.step()
    assert optimizer.state[a]["exp_avg"].is_meta


def test_state_follows_a_parameter_to_another_device():
    a = leaf(1.0, 2.0)
    optimizer = optim.Adam([a])
    a.grad = pb.ones(2)
    optimizer.step()
    a.grad = None
    a.data = a.data.to("meta")
    a.grad = pb.zeros(2, device="meta")
    optimizer.step()
    state = optimizer.state[a]
    assert state["exp_avg"].is_meta
    assert state["exp_avg_sq"].is_meta
    # Steps are counted by the host.
    assert state["step"].item() == 2
    assert state["step"].device.type == "cpu"


# Saving.


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("way", ["state_dict", "file", "pickle", "deepcopy"])
def test_training_goes_on_bit_by_bit(name, way, tmp_path):
    params, others = matrices(), matrices()
    optimizer = make(name, params)
    train(optimizer, params, 4)
    if way in ("state_dict", "file"):
        other = make(name, others)
        saved = {"optimizer": optimizer.state_dict(), "params": [p.detach() for p in params]}
        if way == "file":
            pb.save(saved, tmp_path / "saved.pt")
            saved = pb.load(tmp_path / "saved.pt")
        other.load_state_dict(saved["optimizer"])
        for p, q in zip(saved["params"], others, strict=True):
            q.data.copy_(p)
    else:
        other = (
            copy.deepcopy(optimizer) if way == "deepcopy" else pickle.loads(pickle.dumps(optimizer))
        )
        others = other.param_groups[0]["params"]
    train(optimizer, params, 3, start=4)
    train(other, others, 3, start=4)
    for p, q in zip(params, others, strict=True):
        assert p is not q
        assert pb.equal(p.detach(), q.detach())
        for key, value in optimizer.state[p].items():
            assert pb.equal(value, other.state[q][key])
    assert repr(other) == repr(optimizer)


def test_the_layout_of_a_state_dict():
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    optimizer = optim.Adam([{"params": [a, b]}, {"params": c, "lr": 1.0}])
    c.grad = pb.ones(1)
    optimizer.step()
    saved = optimizer.state_dict()
    assert list(saved) == ["state", "param_groups"]
    assert [group["params"] for group in saved["param_groups"]] == [[0, 1], [2]]
    assert saved["param_groups"][1]["lr"] == 1.0
    assert list(saved["state"]) == [2]
    assert list(saved["state"][2]) == ["step", "exp_avg", "exp_avg_sq"]
    # Hyperparameters are copies; changing them here does not change the optimizer.
    saved["param_groups"][0]["lr"] = 5.0
    assert optimizer.param_groups[0]["lr"] == 1e-3


def test_loading_copies_and_converts():
    a, b = leaf(1.0), leaf(1.0, dtype=pb.float64)
    one, two = optim.Adam([a]), optim.Adam([b])
    a.grad = pb.ones(1)
    one.step()
    saved = one.state_dict()
    two.load_state_dict(saved)
    state = two.state[b]
    assert (state["exp_avg"].dtype, state["step"].dtype) == (pb.float64, pb.float32)
    kept = state["exp_avg"].item()
    one.step()
    assert state["exp_avg"].item() == kept
    assert state["step"].item() == 1


def test_loading_refuses_other_groups():
    one = optim.SGD([leaf(1.0), leaf(2.0)])
    with pytest.raises(ValueError, match="has a different number of parameter groups"):
        optim.SGD([{"params": leaf(1.0)}, {"params": leaf(2.0)}]).load_state_dict(one.state_dict())
    other = optim.SGD([leaf(1.0)], lr=0.25)
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        other.load_state_dict(one.state_dict())
    assert other.param_groups[0]["lr"] == 0.25


def test_state_of_nobody_and_nested_state_are_kept():
    a = leaf(1.0)
    optimizer = optim.SGD([a])
    optimizer.state["global"] = 7
    optimizer.state[a] = {"list": [pb.ones(1)], "text": "x", "inner": {"t": (pb.ones(1), 2)}}
    other = optim.SGD([leaf(1.0, dtype=pb.float64)])
    other.load_state_dict(optimizer.state_dict())
    state = other.state[other.param_groups[0]["params"][0]]
    assert other.state["global"] == 7
    assert state["text"] == "x"
    assert state["list"][0].dtype == pb.float64
    assert state["inner"]["t"][0].dtype == pb.float64


def test_old_checkpoints_lack_options_and_count_in_numbers():
    a = leaf(1.0)
    optimizer = optim.NAdam([a], lr=0.1)
    a.grad = pb.ones(1)
    optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())
    for name in ("foreach", "maximize", "capturable", "differentiable", "decoupled_weight_decay"):
        del saved["param_groups"][0][name]
    saved["state"][0]["step"] = 1
    saved["state"][0]["mu_product"] = saved["state"][0]["mu_product"].item()
    b = a.detach().clone().requires_grad_()
    other = optim.NAdam([b])
    other.load_state_dict(saved)
    b.grad = pb.ones(1)
    for each in (optimizer, other):
        each.step()
    assert pb.equal(a.detach(), b.detach())
    assert other.state[b]["step"].item() == 2


def test_missing_momentum_buffers_of_old_checkpoints():
    a = leaf(1.0)
    optimizer = optim.SGD([a], lr=1.0, momentum=0.5)
    optimizer.state[a] = {"momentum_buffer": None}
    a.grad = pb.ones(1)
    optimizer.step()
    assert optimizer.state[a]["momentum_buffer"].tolist() == [1.0]


# Hooks.


def test_step_hooks_run_in_order_and_may_change_arguments():
    a = leaf(1.0)
    optimizer = optim.SGD([a])
    seen = []

    def before(opt, args, kwargs):
        seen.append(("before", opt is optimizer, len(args), kwargs))
        return (args[0], lambda: 5.0), kwargs

    handles = [
        optimizer.register_step_pre_hook(before),
        optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append("after")),
        optim.register_optimizer_step_pre_hook(lambda *args: seen.append("all before")),
        optim.register_optimizer_step_post_hook(lambda *args: seen.append("all after")),
    ]
    assert optimizer.step() == 5.0
    assert seen == ["all before", ("before", True, 1, {}), "after", "all after"]
    for handle in handles:
        handle.remove()
    seen.clear()
    assert optimizer.step() is None
    assert seen == []


def test_a_hook_that_returns_something_else_is_refused():
    optimizer = optim.SGD([leaf(1.0)])
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args"):
        optimizer.step()


def test_hooks_of_a_subclass_that_calls_its_base_run_once():
    class Twice(optim.SGD):
        def step(self, closure=None):
            super().step()
            return super().step(closure)

    a = leaf(1.0)
    optimizer = Twice([a], lr=0.25)
    seen = []
    optimizer.register_step_post_hook(lambda *args: seen.append(1))
    a.grad = pb.ones(1)
    optimizer.step()
    assert (seen, a.item()) == ([1], 0.5)


def test_state_dict_hooks():
    optimizer = optim.SGD([leaf(1.0)])
    seen = []
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda opt, saved: {**saved, "extra": 1})
    assert optimizer.state_dict()["extra"] == 1
    assert seen == ["first", "second"]


def test_load_state_dict_hooks():
    optimizer = optim.SGD([leaf(1.0)], lr=0.1)
    saved = optimizer.state_dict()
    seen = []

    def doubled(opt, loaded):
        loaded["param_groups"] = [{**g, "lr": g["lr"] * 2} for g in loaded["param_groups"]]
        return loaded

    optimizer.register_load_state_dict_pre_hook(doubled)
    optimizer.register_load_state_dict_post_hook(lambda opt: seen.append(opt.param_groups[0]["lr"]))
    optimizer.load_state_dict(saved)
    assert seen == [0.2]
    assert saved["param_groups"][0]["lr"] == 0.1


# Wrong options.

WRONG = [
    ("SGD", {"lr": -0.1}, "Invalid learning rate: -0.1"),
    ("SGD", {"momentum": -0.5}, "Invalid momentum value: -0.5"),
    ("SGD", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
    ("SGD", {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
    ("Adam", {"lr": float("nan")}, "Invalid learning rate: nan"),
    ("Adam", {"eps": -1.0}, "Invalid epsilon value: -1.0"),
    ("Adam", {"betas": (1.0, 0.0)}, "Invalid beta parameter at index 0: 1.0"),
    ("Adam", {"betas": (0.0, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
    ("Adam", {"betas": (0.9, pb.tensor(0.9))}, "betas must be either both floats or both Tensors"),
    ("Adam", {"betas": (0, 0)}, "betas must be either both floats or both Tensors"),
    ("Adam", {"betas": (pb.tensor(0.9),) * 2, "foreach": True}, r"betas\[0\] as a Tensor is not"),
    ("Adam", {"lr": pb.tensor(0.1), "foreach": True}, "lr as a Tensor is not supported"),
    ("Adam", {"lr": pb.ones(2)}, "Tensor lr must be 1-element"),
    ("NAdam", {"momentum_decay": -0.2}, "Invalid momentum_decay value: -0.2"),
    ("RAdam", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
    ("Adamax", {"betas": (0.0, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
    ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
    ("Adagrad", {"lr_decay": -0.5}, "Invalid lr_decay value: -0.5"),
    ("Adagrad", {"initial_accumulator_value": -1}, "Invalid initial_accumulator_value value: -1"),
    ("RMSprop", {"momentum": -1.0}, "Invalid momentum value: -1.0"),
    ("RMSprop", {"alpha": -1.0}, "Invalid alpha value: -1.0"),
    ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
    ("ASGD", {"lambd": -1.0}, "Invalid lambd value: -1.0"),
    ("ASGD", {"alpha": -1.0}, "Invalid alpha value: -1.0"),
    ("Adafactor", {"beta2_decay": 0.8}, "beta2_decay should be <= 0 but is: 0.8"),
    ("Adafactor", {"eps": (-1e-30, 1e-3)}, "epsilon1 should be >= 0 but is: -1e-30"),
    ("Adafactor", {"eps": (None, -1e-3)}, "epsilon2 should be >= 0 but is: -0.001"),
    ("Adafactor", {"d": 0.0}, "Clipping threshold d should be >= 1 but is: 0.0"),
    ("Muon", {"lr": -1.0}, "Learning rate should be >= 0 but is: -1.0"),
    ("Muon", {"momentum": -1.0}, "momentum should be >= 0 but is: -1.0"),
    ("Muon", {"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
    ("LBFGS", {"lr": -1.0}, "Invalid learning rate: -1.0"),
    ("Lion", {"betas": (1.0, 0.0)}, "Invalid beta parameter at index 0: 1.0"),
    ("Lamb", {"eps": -1.0}, "Invalid epsilon value: -1.0"),
    ("Adan", {"betas": (0.9, 0.9, 1.0)}, "Invalid beta parameter at index 2: 1.0"),
]


@pytest.mark.parametrize(("name", "options", "text"), WRONG)
def test_wrong_options_are_refused(name, options, text):
    with pytest.raises(ValueError, match=text):
        getattr(optim, name)([pb.ones(1, 1, requires_grad=True)], **options)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_flags_that_contradict_each_other(name):
    for options, text in (
        ({"fused": True, "differentiable": True}, "`fused` does not support `differentiable`"),
        ({"fused": True, "foreach": True}, "`fused` and `foreach` cannot be `True` together"),
    ):
        with pytest.raises(RuntimeError, match=text):
            getattr(optim, name)([leaf(1.0)], **options)


def test_flags_that_choose_an_implementation_change_nothing():
    results = []
    for flags in ({}, {"foreach": True}, {"foreach": False}, {"fused": True}, {"capturable": True}):
        a = leaf(1.0, 2.0)
        optimizer = optim.Adam([a], lr=0.1, **flags)
        a.grad = pb.ones(2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step()
        results.append(a.tolist())
        assert optimizer.state[a]["step"].device.type == "cpu"
    assert all(result == results[0] for result in results)


def test_what_is_not_there_says_so():
    for name in ("SparseAdam", "functional", "swap_in_optimizer_params_and_state"):
        with pytest.raises(NotImplementedError, match=rf"pyburn\.optim\.{name}: "):
            getattr(optim, name)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(optim, "Nothing")  # noqa: B009

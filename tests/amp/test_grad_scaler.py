"""Scaled losses: the factor's way, steps that are left out, states."""

from __future__ import annotations

import copy
import math
import pickle

import pyburn
import pytest
from pyburn.amp import GradScaler


def made(**options):
    """A weight with a gradient of 3, its optimizer, and a scaler of it."""
    options = {"init_scale": 8.0, **options}
    weight = pyburn.ones(2, requires_grad=True)
    return weight, pyburn.optim.SGD([weight], lr=1.0), GradScaler("cpu", **options)


def iterate(weight, optimizer, scaler, grad=3.0):
    optimizer.zero_grad()
    scaler.scale((weight * grad).sum()).backward()
    result = scaler.step(optimizer)
    scaler.update()
    return result


def test_gradients_are_scaled_and_divided():
    weight, optimizer, scaler = made()
    scaler.scale((weight * 3).sum()).backward()
    assert weight.grad.tolist() == [24.0, 24.0]
    scaler.step(optimizer)
    assert weight.grad.tolist() == [3.0, 3.0]
    assert weight.tolist() == [-2.0, -2.0]
    scaler.update()
    assert scaler.get_scale() == 8.0


@pytest.mark.parametrize("broken", [math.inf, -math.inf, math.nan])
def test_a_step_with_broken_gradients_is_left_out(broken):
    weight, optimizer, scaler = made()
    assert iterate(weight, optimizer, scaler, broken) is None
    assert weight.tolist() == [1.0, 1.0]
    assert scaler.get_scale() == 4.0
    iterate(weight, optimizer, scaler)
    assert weight.tolist() == [-2.0, -2.0]


def test_one_broken_element_of_one_parameter_is_enough():
    weights = [pyburn.ones(3, requires_grad=True) for _ in range(3)]
    optimizer = pyburn.optim.SGD(weights, lr=1.0)
    scaler = GradScaler("cpu")
    scaler.scale(sum(weight.sum() for weight in weights)).backward()
    weights[1].grad[2] = math.nan
    scaler.step(optimizer)
    assert all(weight.tolist() == [1.0] * 3 for weight in weights)


def test_the_factor_grows_after_so_many_steps_in_a_row():
    weight, optimizer, scaler = made(growth_interval=3, growth_factor=4.0, backoff_factor=0.25)
    seen = []
    for grad in (1, 1, 1, 1, math.inf, 1, 1, 1):
        iterate(weight, optimizer, scaler, grad)
        seen.append(scaler.get_scale())
    assert seen == [8.0, 8.0, 32.0, 32.0, 8.0, 8.0, 8.0, 32.0]


def test_the_factor_stays_finite():
    weight, optimizer, scaler = made(init_scale=2.0**127, growth_interval=1)
    iterate(weight, optimizer, scaler, 0.0)
    assert scaler.get_scale() == 2.0**127


def test_small_gradients_survive_in_halves():
    """Times 2^-14 twice is nothing in float16, unless it is scaled in between."""
    results = []
    for enabled in (False, True):
        weight = pyburn.ones(1, requires_grad=True)
        optimizer = pyburn.optim.SGD([weight], lr=1.0)
        scaler = GradScaler("cpu", init_scale=2.0**12, enabled=enabled)
        half = weight.to(pyburn.float16)
        loss = (half * 2.0**-14 * 2.0**-14).sum()
        scaler.scale(loss.float()).backward()
        scaler.step(optimizer)
        results.append(weight.grad.item())
    assert results == [0.0, 2.0**-28]


def test_halves_are_scaled_in_float32():
    scaled = GradScaler("cpu", init_scale=2.0**17).scale(pyburn.tensor(3.0, dtype=pyburn.float16))
    assert (scaled.dtype, scaled.item()) == (pyburn.float32, 3 * 2.0**17)


def test_unscaled_gradients_can_be_clipped():
    weight, optimizer, scaler = made()
    scaler.scale((weight * 3).sum()).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [3.0, 3.0]
    weight.grad.clamp_(max=1.0)
    scaler.step(optimizer)
    assert weight.tolist() == [0.0, 0.0]


def test_several_optimizers_share_a_factor():
    first, second = (pyburn.ones(1, requires_grad=True) for _ in range(2))
    optimizers = [pyburn.optim.SGD([weight], lr=1.0) for weight in (first, second)]
    scaler = GradScaler("cpu", init_scale=8.0)
    for loss in scaler.scale([first.sum(), (second * math.inf).sum()]):
        loss.backward()
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
    assert (first.item(), second.item()) == (0.0, 1.0)
    assert scaler.get_scale() == 4.0


def test_nests_of_outputs_are_scaled():
    scaler = GradScaler("cpu", init_scale=2.0)
    one = pyburn.ones(())
    scaled = scaler.scale([one, (one, [one])])
    assert isinstance(scaled[1], tuple)
    assert (scaled[0].item(), scaled[1][0].item(), scaled[1][1][0].item()) == (2.0, 2.0, 2.0)
    assert [item.item() for item in scaler.scale(iter([one, one]))] == [2.0, 2.0]
    with pytest.raises(ValueError, match="must be a Tensor or an iterable of Tensors, got int"):
        scaler.scale(3)


def test_accumulated_gradients_are_divided_once():
    weight, optimizer, scaler = made()
    for _ in range(4):
        scaler.scale(weight.sum() / 4).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.0, 0.0]


def test_setting_the_factor():
    weight, _, scaler = made()
    scaler.scale(weight.sum())
    for given in (32.0, pyburn.tensor([64.0])):
        scaler.update(given)
        assert scaler.get_scale() == float(given)
    with pytest.raises(AssertionError, match="one element"):
        scaler.update(pyburn.ones(2))


def test_what_the_step_gives_and_takes():
    weight, optimizer, scaler = made()
    calls = []
    optimizer.step = lambda *args, **kwargs: calls.append((args, kwargs)) or "done"
    scaler.scale(weight.sum()).backward()
    assert scaler.step(optimizer, 1, extra=2) == "done"
    assert calls == [((1,), {"extra": 2})]


def test_off_passes_everything_on():
    weight, optimizer, _ = made()
    scaler = GradScaler("cpu", enabled=False)
    loss = weight.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.0, 0.0]
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})
    scaler.load_state_dict({})


@pytest.mark.skipif(pyburn.cuda.is_available(), reason="needs a machine without CUDA")
def test_a_missing_device_turns_it_off():
    with pytest.warns(UserWarning, match="cuda is not available. Disabling"):
        scaler = GradScaler()
    assert not scaler.is_enabled()
    assert not GradScaler(enabled=False).is_enabled()


def test_settings():
    scaler = GradScaler("cpu")
    assert (scaler.get_scale(), scaler.is_enabled()) == (65536.0, True)
    for name, default, value in (
        ("growth_factor", 2.0, 3.0),
        ("backoff_factor", 0.5, 0.1),
        ("growth_interval", 2000, 7),
    ):
        assert getattr(scaler, f"get_{name}")() == default
        getattr(scaler, f"set_{name}")(value)
        assert getattr(scaler, f"get_{name}")() == value


def test_a_state_goes_on(tmp_path):
    weight, optimizer, scaler = made(growth_interval=3)
    for _ in range(2):
        iterate(weight, optimizer, scaler)
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 3,
        "_growth_tracker": 2,
    }
    pyburn.save(state, tmp_path / "scaler.pt")
    fresh, used = GradScaler("cpu"), GradScaler("cpu")
    iterate(weight, optimizer, used)
    for loaded in (fresh, used):
        loaded.load_state_dict(pyburn.load(tmp_path / "scaler.pt"))
        assert loaded.state_dict() == state
        iterate(weight, optimizer, loaded)
        assert loaded.get_scale() == 16.0


def test_pickled_and_copied():
    weight, optimizer, scaler = made(growth_interval=3)
    iterate(weight, optimizer, scaler)
    for again in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert again.state_dict() == scaler.state_dict()
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="at the beginning of an iteration"):
        pickle.dumps(scaler)


def test_the_order_of_calls():
    weight, optimizer, scaler = made()
    for name, call in (
        ("unscale_", lambda: scaler.unscale_(optimizer)),
        ("step", lambda: scaler.step(optimizer)),
        ("update", lambda: scaler.update()),
    ):
        with pytest.raises(AssertionError, match=f"attempted {name} but the scale is None"):
            call()
    scaler.scale(weight.sum()).backward()
    with pytest.raises(AssertionError, match="no inf checks were recorded prior to update"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer since the last"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called since the last update"):
        scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    with pytest.raises(AssertionError, match="has no gradients"):
        scaler.step(optimizer)


def test_refused():
    weight, optimizer, scaler = made()
    scaler.scale(weight.sum()).backward()
    for arguments in ({"closure": lambda: None}, None):
        with pytest.raises(RuntimeError, match="closure use is not currently supported"):
            if arguments is None:
                scaler.step(optimizer, lambda: None)
            else:
                scaler.step(optimizer, **arguments)
    half = pyburn.ones(1, dtype=pyburn.float16, requires_grad=True)
    scaler.scale(half.sum()).backward()
    with pytest.raises(ValueError, match="unscale FP16 gradients"):
        scaler.step(pyburn.optim.SGD([half]))
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})
    with pytest.raises(AssertionError, match="growth_factor must be > 1.0, got 1.0"):
        GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match="backoff_factor must be < 1.0, got 1.0"):
        GradScaler("cpu", backoff_factor=1.0)


def test_with_a_schedule():
    """A step that was left out is no step of the schedule's optimizer."""
    weight, optimizer, scaler = made()
    schedule = pyburn.lr_scheduler.ExponentialLR(optimizer, 0.5)
    iterate(weight, optimizer, scaler)
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.5

"""Averages of weights, and statistics of normalisations for them."""

from __future__ import annotations

import copy

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.optim.swa_utils import (
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)


def trained(model, averaged, steps=6):
    """Weights of a model that changes at random, as arrays, one list for each update."""
    seen = []
    for _ in range(steps):
        with pyburn.no_grad():
            for parameter in model.parameters():
                parameter.add_(pyburn.randn_like(parameter))
        averaged.update_parameters(model)
        seen.append([parameter.detach().numpy().copy() for parameter in model.parameters()])
    return seen


def small():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def close(averaged, expected):
    for parameter, array in zip(averaged.parameters(), expected, strict=True):
        np.testing.assert_allclose(parameter.detach().numpy(), array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{}, {"avg_fn": get_swa_avg_fn()}, {"multi_avg_fn": get_swa_multi_avg_fn()}],
    ids=["default", "single", "multi"],
)
def test_equal_averages(options):
    model = small()
    averaged = AveragedModel(model, **options)
    seen = trained(model, averaged)
    close(averaged, [np.mean(values, axis=0) for values in zip(*seen, strict=True)])
    assert averaged.n_averaged.item() == len(seen)


@pytest.mark.parametrize("decay", [0.0, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("make", [get_ema_avg_fn, get_ema_multi_avg_fn])
def test_exponential_averages(make, decay):
    model = small()
    name = "avg_fn" if make is get_ema_avg_fn else "multi_avg_fn"
    averaged = AveragedModel(model, **{name: make(decay)})
    seen = trained(model, averaged)
    expected = seen[0]
    for values in seen[1:]:
        expected = [
            decay * old + (1 - decay) * new for old, new in zip(expected, values, strict=True)
        ]
    close(averaged, expected)


def test_the_default_decay():
    average = get_ema_avg_fn()(pyburn.zeros(1), pyburn.ones(1), 5)
    np.testing.assert_allclose(average.numpy(), [0.001], rtol=1e-4)


def test_a_function_of_ones_own():
    seen = []

    def largest(averaged, current, count):
        seen.append(int(count))
        return pyburn.maximum(averaged, current)

    model = small()
    averaged = AveragedModel(model, avg_fn=largest)
    values = trained(model, averaged)
    close(averaged, [np.max(parts, axis=0) for parts in zip(*values, strict=True)])
    assert seen == [count for count in range(1, 6) for _ in range(4)]


def test_the_average_is_a_model_of_its_own():
    model = small()
    averaged = AveragedModel(model)
    x = pyburn.randn(5, 3)
    assert (averaged(x) == model(x)).all()
    trained(model, averaged, 3)
    assert not (averaged(x) == model(x)).all()
    assert averaged.module.training
    assert not any(own is other for own in averaged.parameters() for other in model.parameters())
    averaged.eval()
    assert model.training


def test_nothing_is_recorded():
    model = small()
    averaged = AveragedModel(model)
    trained(model, averaged, 2)
    for parameter in averaged.parameters():
        assert parameter.is_leaf
        assert parameter.requires_grad
        assert parameter.grad is None


def test_a_state_goes_on(tmp_path):
    model = small()
    averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5))
    trained(model, averaged, 3)
    assert "n_averaged" in averaged.state_dict()
    assert "module.0.weight" in averaged.state_dict()
    pyburn.save(averaged.state_dict(), tmp_path / "averaged.pt")
    loaded = AveragedModel(copy.deepcopy(model), multi_avg_fn=get_ema_multi_avg_fn(0.5))
    loaded.load_state_dict(pyburn.load(tmp_path / "averaged.pt"))
    assert loaded.n_averaged.item() == 3
    for each in (averaged, loaded):
        each.update_parameters(model)
    close(loaded, [parameter.detach().numpy() for parameter in averaged.parameters()])


class Counting(nn.Module):
    """A weight, a statistic and a count."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(pyburn.zeros(2))
        self.register_buffer("statistic", pyburn.zeros(2))
        self.register_buffer("count", pyburn.tensor(0))

    def move(self, value):
        with pyburn.no_grad():
            self.weight.fill_(value)
        self.statistic.fill_(value)
        self.count.fill_(int(value))


@pytest.mark.parametrize("multi", [get_swa_multi_avg_fn(), None], ids=["multi", "default"])
def test_buffers_are_copied_or_averaged(multi):
    for use_buffers in (False, True):
        model = Counting()
        averaged = AveragedModel(model, multi_avg_fn=multi, use_buffers=use_buffers)
        for value in (2.0, 4.0, 9.0):
            model.move(value)
            averaged.update_parameters(model)
        assert averaged.module.weight.tolist() == [5.0, 5.0]
        assert averaged.module.statistic.tolist() == ([5.0, 5.0] if use_buffers else [9.0, 9.0])
        # Counts are cut to integers at every step: 2, 3, 5.
        assert averaged.module.count.item() == (5 if use_buffers else 9)


def test_integers_are_averaged_exponentially():
    averaged = [pyburn.tensor([10])]
    get_ema_multi_avg_fn(0.5)(averaged, [pyburn.tensor([15])], 1)
    assert averaged[0].tolist() == [12]


def test_tensors_of_a_kind_come_together():
    seen = []

    def noting(averaged, current, count):
        seen.append([tensor.dtype for tensor in averaged])
        assert [tensor.dtype for tensor in current] == seen[-1]

    model = nn.Module()
    model.a = nn.Parameter(pyburn.zeros(1))
    model.b = nn.Parameter(pyburn.zeros(1, dtype=pyburn.float64))
    model.c = nn.Parameter(pyburn.zeros(1))
    averaged = AveragedModel(model, multi_avg_fn=noting)
    averaged.update_parameters(model)
    averaged.update_parameters(model)
    assert sorted(map(str, seen)) == sorted(map(str, [[pyburn.float32] * 2, [pyburn.float64]]))


def test_statistics_are_those_of_all_batches():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.BatchNorm1d(4)))
    batches = [pyburn.randn(8, 3) for _ in range(5)]
    model[1].momentum = 0.25
    model.eval()
    update_bn(batches, model)
    assert not model.training
    assert (model[1].momentum, model[2][0].momentum) == (0.25, 0.1)
    means = [model[0](batch).detach().numpy().mean(0) for batch in batches]
    variances = [model[0](batch).detach().numpy().var(0, ddof=1) for batch in batches]
    np.testing.assert_allclose(model[1].running_mean.numpy(), np.mean(means, 0), atol=1e-5)
    np.testing.assert_allclose(model[1].running_var.numpy(), np.mean(variances, 0), atol=1e-5)
    assert model[1].num_batches_tracked.item() == 5
    assert model[1].weight.grad is None


def test_batches_may_be_tuples_and_end_in_an_error():
    model = nn.Sequential(nn.BatchNorm1d(2))
    model.eval()
    update_bn([(pyburn.ones(3, 2), "label"), [pyburn.ones(3, 2)]], model, device="cpu")
    assert model[0].running_mean.tolist() == [1.0, 1.0]
    with pytest.raises(ZeroDivisionError):
        update_bn((1 / 0 for _ in range(1)), model)
    assert model[0].momentum == 0.1
    assert not model.training


def test_models_without_normalisation_see_no_batch():
    update_bn((1 / 0 for _ in range(1)), small())


def test_errors():
    with pytest.raises(AssertionError, match="only one of avg_fn and multi_avg_fn"):
        AveragedModel(small(), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())
    for make in (get_ema_avg_fn, get_ema_multi_avg_fn):
        for decay in (-0.1, 1.1):
            with pytest.raises(ValueError, match=f"invalid decay value {decay}"):
                make(decay)
    with pytest.raises(ValueError, match="a model with 4 parameters.*got one with 2"):
        AveragedModel(small()).update_parameters(nn.Linear(3, 4))

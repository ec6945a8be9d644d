"""Functions that draw: the shape and dtype, the bounds, mean and spread, and the seed."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyburn as pb
import pytest
from helpers import name_of, to_numpy

from ops.specs.random import LAWS, Law

CASES = [pytest.param(law, id=f"{law.name}-{at}") for at, law in enumerate(LAWS)]


@pytest.mark.parametrize("law", CASES)
def test_draws_follow_the_law(law: Law, ran: Counter[str]) -> None:
    pb.manual_seed(0)
    drawn = law.draw()
    assert (tuple(drawn.shape), name_of(drawn.dtype)) == (law.shape, law.dtype)
    values = to_numpy(drawn).astype(np.float64)
    assert values.min() >= law.low
    assert values.max() <= law.high
    if law.whole:
        assert (values == np.round(values)).all()
    if law.heavy:
        quartiles = np.quantile(values, [0.25, 0.5, 0.75])
        expected = [law.mean - law.std, law.mean, law.mean + law.std]
        np.testing.assert_allclose(quartiles, expected, atol=0.15)
    else:
        # Five standard deviations of the mean of this many draws.
        assert abs(values.mean() - law.mean) < 5 * law.std / math.sqrt(values.size)
        assert abs(values.std() - law.std) < 0.05 * law.std
    ran["rows random"] += 1


@pytest.mark.parametrize("law", CASES)
def test_the_seed_fixes_what_is_drawn(law: Law) -> None:
    pb.manual_seed(7)
    first, second = to_numpy(law.draw()), to_numpy(law.draw())
    pb.manual_seed(7)
    np.testing.assert_array_equal(to_numpy(law.draw()), first)
    assert (first != second).any()


def test_a_permutation_has_every_number_once() -> None:
    assert sorted(pb.randperm(100).tolist()) == list(range(100))


def test_draws_without_replacement_are_different() -> None:
    drawn = pb.multinomial(pb.ones(5, 50), 50)
    assert all(sorted(row) == list(range(50)) for row in drawn.tolist())


def test_probability_zero_is_never_drawn() -> None:
    drawn = pb.multinomial(pb.tensor([0.0, 1.0, 0.0, 1.0]), 1000, replacement=True)
    assert set(drawn.tolist()) == {1, 3}


def test_a_generator_has_a_state_of_its_own() -> None:
    one, two = pb.Generator().manual_seed(3), pb.Generator().manual_seed(3)
    a = pb.rand(5, generator=one)
    pb.rand(5)
    np.testing.assert_array_equal(to_numpy(pb.rand(5, generator=two)), to_numpy(a))


def test_the_state_can_be_put_back() -> None:
    state = pb.get_rng_state()
    first = to_numpy(pb.randn(6))
    pb.set_rng_state(state)
    np.testing.assert_array_equal(to_numpy(pb.randn(6)), first)

"""Anomaly mode finds the step that made a NaN and names the line that recorded it."""

import pyburn
import pytest


def test_it_names_the_step_and_the_forward_line():
    x = pyburn.tensor([-1.0], requires_grad=True)
    with pyburn.autograd.detect_anomaly():
        y = x.sqrt()  # the guilty line
        z = (y * 2).sum()
        with pytest.raises(RuntimeError, match="SqrtBackward") as caught:
            z.backward()
    assert "nan" in str(caught.value)
    assert "the guilty line" in str(caught.value)


def test_without_the_mode_nothing_happens():
    x = pyburn.tensor([-1.0], requires_grad=True)
    x.sqrt().sum().backward()
    assert x.grad.isnan().all()


def test_a_forward_outside_the_mode_is_said_to_be_so():
    x = pyburn.tensor([-1.0], requires_grad=True)
    y = x.sqrt().sum()
    with pyburn.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="detect_anomaly"):
        y.backward()


def test_it_is_put_back():
    assert not pyburn.is_anomaly_enabled()
    with pyburn.autograd.detect_anomaly():
        assert pyburn.is_anomaly_enabled()
    with pyburn.autograd.set_detect_anomaly(True):
        assert pyburn.is_anomaly_enabled()
    assert not pyburn.is_anomaly_enabled()


def test_sound_gradients_pass():
    x = pyburn.tensor([4.0], requires_grad=True)
    with pyburn.autograd.detect_anomaly():
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [0.25]

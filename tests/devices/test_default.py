"""The default device."""

import threading

import pyburn
import pytest


def test_it_is_the_cpu():
    assert pyburn.get_default_device() == pyburn.device("cpu")
    assert pyburn.zeros(1).device.type == "cpu"


def test_it_can_be_set():
    try:
        pyburn.set_default_device("meta")
        assert pyburn.zeros(2).is_meta
        assert pyburn.ones(2, device="cpu").tolist() == [1, 1]
    finally:
        pyburn.set_default_device("cpu")
    assert pyburn.zeros(2).tolist() == [0, 0]


def test_for_a_block():
    with pyburn.device("meta"):
        assert pyburn.zeros(2).is_meta
        with pyburn.device("cpu"):
            assert not pyburn.zeros(2).is_meta
    assert not pyburn.zeros(2).is_meta


def test_an_exception_puts_it_back():
    with pytest.raises(ZeroDivisionError), pyburn.device("meta"):
        raise ZeroDivisionError
    assert not pyburn.zeros(2).is_meta


def test_results_stay_where_their_operands_are():
    with pyburn.device("meta"):
        x = pyburn.ones(2, device="cpu")
        assert (x + 1).tolist() == [2, 2]
        assert pyburn.ones_like(x).tolist() == [1, 1]
        assert x.new_zeros(2).tolist() == [0, 0]


def test_a_block_belongs_to_its_thread():
    found = []
    with pyburn.device("meta"):
        thread = threading.Thread(target=lambda: found.append(pyburn.zeros(1).is_meta))
        thread.start()
        thread.join()
    assert found == [False]


def test_tensors_of_two_devices_do_not_mix():
    with pytest.raises(RuntimeError, match=r"same device.*cpu.*meta|same device.*meta.*cpu"):
        pyburn.ones(2) + pyburn.ones(2, device="meta")

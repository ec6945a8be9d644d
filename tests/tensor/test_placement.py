"""Every function that makes a tensor takes `device=` and its synonym `backend=`."""

from __future__ import annotations

import inspect

import pyburn
import pytest
from pyburn.signal import windows

X = pyburn.ones(2)

# A call of each of them, without the device.
FACTORIES = {
    pyburn: {
        "Tensor": ([1.0],),
        "arange": (3,),
        "as_tensor": ([1.0],),
        "asarray": ([1.0],),
        "bartlett_window": (3,),
        "blackman_window": (3,),
        "empty": (2,),
        "empty_like": (X,),
        "empty_permuted": ((2, 3), (1, 0)),
        "empty_strided": ((2, 3), (3, 1)),
        "eye": (2,),
        "full": ((2,), 1.0),
        "full_like": (X, 1.0),
        "hamming_window": (3,),
        "hann_window": (3,),
        "kaiser_window": (3,),
        "linspace": (0, 1, 3),
        "logspace": (0, 1, 3),
        "normal": (0.0, 1.0, (2,)),
        "ones": (2,),
        "ones_like": (X,),
        "rand": (2,),
        "rand_like": (X,),
        "randint": (0, 3, (2,)),
        "randint_like": (X, 3),
        "randn": (2,),
        "randn_like": (X,),
        "randperm": (3,),
        "range": (0, 3),
        "scalar_tensor": (1.0,),
        "tensor": ([1.0],),
        "tril_indices": (3, 3),
        "triu_indices": (3, 3),
        "zeros": (2,),
        "zeros_like": (X,),
    },
    pyburn.Tensor: {
        "new_empty": (X, 2),
        "new_empty_strided": (X, (2, 3), (3, 1)),
        "new_full": (X, (2,), 1.0),
        "new_ones": (X, 2),
        "new_tensor": (X, [1.0]),
        "new_zeros": (X, 2),
        "random": ((2,),),
    },
    pyburn.fft: {"fftfreq": (3,), "rfftfreq": (3,)},
    windows: dict.fromkeys(windows.__all__, (3,)),
}
OPTIONS = {"general_cosine": {"a": [0.5, 0.5]}}
CALLS = [
    pytest.param(
        getattr(owner, name),
        args,
        OPTIONS.get(name, {}),
        id=f"{owner.__name__}.{name}",
    )
    for owner, calls in FACTORIES.items()
    for name, args in calls.items()
]
# What takes a device and makes nothing on it, moves what is there, or takes what others made.
OTHERS = {
    "Generator",
    "GradScaler",
    "cpu",
    "cuda",
    "device",
    "from_dlpack",
    "memory_stats",
    "set_default_device",
    "synchronize",
    "to",
    "to_device",
}


@pytest.mark.parametrize(("make", "args", "options"), CALLS)
def test_the_backend_is_a_device(make, args, options):
    assert make(*args, **options).device.type == "cpu"
    for place in ({"device": "meta"}, {"backend": "meta"}, {"device": "meta", "backend": "Meta"}):
        assert make(*args, **options, **place).is_meta


@pytest.mark.parametrize(("make", "args", "options"), CALLS)
def test_two_devices_are_one_too_many(make, args, options):
    with pytest.raises(ValueError, match=r"to name one device, got cpu and meta"):
        make(*args, **options, device="cpu", backend=pyburn.device("meta"))


@pytest.mark.parametrize("owner", FACTORIES, ids=lambda owner: owner.__name__)
def test_none_is_left_out(owner):
    public = getattr(owner, "__all__", set(dir(owner)) - set(pyburn._LAZY))
    found = {
        name for name in public if not name.startswith("_") and takes_a_device(getattr(owner, name))
    }
    assert found - OTHERS == set(FACTORIES[owner])


def takes_a_device(function):
    try:
        return "device" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False

"""NumPy's formats, both ways with NumPy itself, and damaged ones."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pyburn
import pytest

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("name", DTYPES)
def test_npz_goes_both_ways(tmp_path, name):
    values = {
        "a": pyburn.arange(6).to(getattr(pyburn, name)).reshape(2, 3),
        "dir/b": pyburn.ones((), dtype=getattr(pyburn, name)),
        "none": pyburn.zeros(0, 2, dtype=getattr(pyburn, name)),
    }
    pyburn.save(values, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as theirs:
        assert set(theirs.files) == set(values)
        for key, value in values.items():
            assert theirs[key].dtype == name
            assert np.array_equal(theirs[key], value.numpy())
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "y.npz", **{key: value.numpy() for key, value in values.items()})
        ours = pyburn.load(tmp_path / "y.npz")
        assert all(pyburn.equal(ours[key], value) for key, value in values.items())


@pytest.mark.parametrize("name", DTYPES)
def test_npy_goes_both_ways(tmp_path, name):
    array = np.arange(6).astype(name).reshape(2, 3)
    pyburn.save(pyburn.from_numpy(array), tmp_path / "x.npy")
    assert np.array_equal(np.load(tmp_path / "x.npy"), array)
    for version in ((1, 0), (2, 0), (3, 0)):
        for other in (array, np.asfortranarray(array), array[:0], array[0, 0]):
            with open(tmp_path / "y.npy", "wb") as file:
                np.lib.format.write_array(file, np.asanyarray(other), version)
            for mmap in (False, True):
                ours = pyburn.load(tmp_path / "y.npy", mmap=mmap)
                assert np.array_equal(ours.numpy(), other)


def test_other_byte_order():
    file = io.BytesIO()
    np.save(file, np.arange(3, dtype=">i4"))
    file.seek(0)
    assert pyburn.load(file).tolist() == [0, 1, 2]


def test_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "y.npz", a=np.array([{}], dtype=object))
    for name in ("x.npy", "y.npz"):
        with pytest.raises(ValueError, match=rf"{name}.*never loaded"):
            pyburn.load(tmp_path / name)


def npy(header, data=b"\0" * 8, magic=b"\x93NUMPY\x01\x00"):
    header = header.encode("latin-1")
    return magic + len(header).to_bytes(2, "little") + header + data


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
HOSTILE = {
    "version": (npy(GOOD, magic=b"\x93NUMPY\x09\x00"), "unknown version 9.0"),
    "not a dict": (npy("[1]"), "header is not valid"),
    "code": (npy("__import__('os').system('true')"), "header is not valid"),
    "keys": (npy("{'descr': '<f4'}"), "expected exactly"),
    "deep": (npy("(" * 60000), "describes a structure"),
    "negative": (npy(GOOD.replace("2", "-2")), "shape must be"),
    "text": (npy(GOOD.replace("2", "'2'")), "shape must be"),
    "true": (npy(GOOD.replace("2", "True")), "shape must be"),
    "huge": (npy(GOOD.replace("2", "1" * 30)), "shape must be"),
    "product": (npy(GOOD.replace("2,", f"{2**40}, {2**40}")), "too many elements"),
    "larger": (npy(GOOD.replace("2", "2000000000000")), "should end at byte"),
    "trailing": (npy(GOOD, b"\0" * 9), "should end at byte"),
    "bools": (npy(GOOD.replace("<f4", "|b1"), b"\2\0"), "other than 0 and 1"),
    "structured": (npy(GOOD.replace("'<f4'", "[('a', '<f4')]")), "describes a structure"),
    "null": (npy(GOOD.replace("2", "2\0")), "header is not valid"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("packed", [False, True])
def test_hostile_arrays(tmp_path, name, packed):
    data, words = HOSTILE[name]
    path = tmp_path / ("x.npz" if packed else "x.npy")
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", data)
    else:
        path.write_bytes(data)
    with pytest.raises(ValueError, match=words) as caught:
        pyburn.load(path)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("code", ["<u2", "<u4", "<u8", "<U3", "<M8", "|S4", "<f16"])
def test_foreign_types_are_refused_by_name(tmp_path, code):
    path = tmp_path / "x.npy"
    path.write_bytes(npy(GOOD.replace("<f4", code)))
    with pytest.raises(NotImplementedError, match="do not exist in PyBurn"):
        pyburn.load(path)


def test_a_bomb_is_refused_before_it_expands(tmp_path):
    path = tmp_path / "bomb.npz"
    header = npy(GOOD.replace("2", str(2 << 28)), b"")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("a.npy", "w", force_zip64=True) as record:
            record.write(header)
            block = b"\0" * (1 << 24)
            for _ in range(128):
                record.write(block)
    assert path.stat().st_size < 20_000_000
    with pytest.raises(ValueError, match="zip bomb"):
        pyburn.load(path)


def test_overlapping_records_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy(GOOD))
        archive.writestr("b.npy", npy(GOOD))
        archive.getinfo("b.npy").header_offset = 0
        archive.getinfo("b.npy").filename = "a.npz"
    with pytest.raises(ValueError, match=r"x\.npz"):
        pyburn.load(path)


def test_duplicate_and_foreign_members_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy(GOOD))
        archive.writestr("a.npy", npy(GOOD))
    with pytest.raises(ValueError, match="twice"):
        pyburn.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(ValueError, match="not an array"):
        pyburn.load(path)


@pytest.mark.parametrize("name", ["x.npz", "c.npz", "x.npy"])
def test_truncated_at_every_length(tmp_path, name):
    values = {"a": pyburn.arange(5), "b": pyburn.ones(3)}
    whole = tmp_path / f"whole-{name}"
    if name == "c.npz":
        np.savez_compressed(whole, **{key: value.numpy() for key, value in values.items()})
    else:
        pyburn.save(values if name == "x.npz" else values["a"], whole)
    data = whole.read_bytes()
    path = tmp_path / name
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=name):
            pyburn.load(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_flipped_bits_are_an_error_or_harmless(tmp_path, compressed):
    values = {"a": pyburn.arange(5), "b": pyburn.ones(3)}
    path = tmp_path / "x.npz"
    if compressed:
        np.savez_compressed(path, **{key: value.numpy() for key, value in values.items()})
    else:
        pyburn.save(values, path)
    whole, refused = path.read_bytes(), 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            loaded = pyburn.load(path)
        except (ValueError, NotImplementedError):
            refused += 1
        else:
            # What is left are fields such as times, which say nothing about the values.
            assert all(pyburn.equal(loaded[key], value) for key, value in values.items())
    assert refused > len(whole) // 3


def test_bfloat16_is_refused(tmp_path):
    for name, value in (
        ("x.npy", pyburn.ones(1, dtype=pyburn.bfloat16)),
        ("x.npz", {"a": pyburn.ones(1, dtype=pyburn.bfloat16)}),
    ):
        with pytest.raises(NotImplementedError, match="no bfloat16"):
            pyburn.save(value, tmp_path / name)
    assert not list(tmp_path.iterdir())

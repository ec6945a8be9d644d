"""The safetensors format: what is kept, and what is refused."""

from __future__ import annotations

import json
import struct

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
    "bfloat16",
    "float32",
    "float64",
    "complex64",
]


def written(header, data=b"", size=None):
    """A file from a header as an object, text or bytes."""
    if not isinstance(header, bytes | str):
        header = json.dumps(header)
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header) if size is None else size) + header + data


def entry(shape=(2,), begin=0, end=8, dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


@pytest.fixture
def load(tmp_path):
    def load_bytes(data, **options):
        path = tmp_path / "model.safetensors"
        path.write_bytes(data)
        return pyburn.load(path, **options)

    return load_bytes


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("mmap", [False, True])
def test_every_dtype_and_shape_comes_back(tmp_path, name, mmap):
    kind = getattr(pyburn, name)
    tensors = {
        "vector": pyburn.arange(7).to(kind),
        "none": pyburn.zeros(0, 3, dtype=kind),
        "number": pyburn.ones((), dtype=kind),
        "view": pyburn.arange(12).to(kind).reshape(3, 4).t()[1:],
    }
    path = tmp_path / "x.safetensors"
    pyburn.save(tensors, path)
    loaded = pyburn.load(path, mmap=mmap)
    assert loaded.keys() == tensors.keys()
    for key, tensor in tensors.items():
        assert loaded[key].dtype == kind
        assert loaded[key].shape == tensor.shape
        assert pyburn.equal(loaded[key], tensor)


def test_metadata_is_kept(tmp_path):
    path = tmp_path / "x.safetensors"
    notes = {"format": "pt", "ünï": '"\\{[\u2028'}
    pyburn.save({"a": pyburn.ones(1)}, path, metadata=notes)
    assert pyburn.serialization.read_metadata(path) == notes
    assert list(pyburn.load(path)) == ["a"]


def test_names_may_be_any_text(tmp_path):
    path = tmp_path / "x.safetensors"
    names = ["", "a.b", "é", '"', "\\", "{[" * 50, "a\nb"]
    pyburn.save({name: pyburn.full((1,), i) for i, name in enumerate(names)}, path)
    assert {name: int(value) for name, value in pyburn.load(path).items()} == {
        name: i for i, name in enumerate(names)
    }


def test_a_mapped_file_is_not_written_to(tmp_path):
    path = tmp_path / "x.safetensors"
    pyburn.save({"a": pyburn.zeros(4)}, path)
    before = path.read_bytes()
    tensor = pyburn.load(path, mmap=True)["a"]
    tensor += 1
    assert tensor.tolist() == [1.0] * 4
    assert path.read_bytes() == before


F32 = np.arange(2, dtype="<f4").tobytes()


def test_a_hand_made_file_is_read(load):
    tensors = load(written({"__metadata__": {"a": "b"}, "x": entry()}, F32))
    assert tensors["x"].tolist() == [0.0, 1.0]


HOSTILE = {
    "empty": (b"", "empty|8 bytes"),
    "short length": (b"\x08\0\0", "8 bytes of header length"),
    "huge header": (struct.pack("<Q", 2**64 - 1) + b"{}", "over the limit"),
    "header past the end": (struct.pack("<Q", 100) + b"{}", "truncated"),
    "not UTF-8": (written(b'{"\xff": 1}'), "not UTF-8 at byte 10"),
    "no object": (written(b"[1, 2]"), "does not begin with"),
    "no JSON": (written(b"{x}"), "header is not valid"),
    "trailing text": (written(b"{} {}"), "header is not valid"),
    "NaN": (written(b'{"x": NaN}'), "NaN is not JSON"),
    "deep": (written(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "deeper"),
    "duplicate name": (
        written(f'{{"x": {json.dumps(entry())}, "x": {json.dumps(entry())}}}', F32),
        "twice",
    ),
    "duplicate field": (
        written(
            '{"x": {"dtype": "F32", "dtype": "F32", "shape": [], "data_offsets": [0, 4]}}', F32[:4]
        ),
        "twice",
    ),
    "entry is no object": (written({"x": 1}), "expected exactly"),
    "lacking field": (written({"x": {"dtype": "F32", "shape": []}}), "expected exactly"),
    "extra field": (written({"x": {**entry(), "more": 1}}, F32), "expected exactly"),
    "unknown dtype": (written({"x": entry(dtype="F99")}, F32), "unknown dtype 'F99'"),
    "dtype is no text": (written({"x": entry(dtype=3)}, F32), "unknown dtype 3"),
    "negative size": (written({"x": entry(shape=[-2])}, F32), "shape must be"),
    "size is true": (written({"x": entry(shape=[True])}, F32), "shape must be"),
    "size is a float": (written({"x": entry(shape=[2.0])}, F32), "shape must be"),
    "huge size": (written({"x": entry(shape=[2**62, 2**62])}, F32), "too many elements"),
    "huge number": (written({"x": entry(shape=[10**30])}, F32), "shape must be"),
    "shape against offsets": (written({"x": entry(shape=[3])}, F32), "needs 12 bytes"),
    "offsets past the end": (written({"x": entry(end=80, shape=[20])}, F32), "do not lie within"),
    "offsets backwards": (written({"x": entry(begin=8, end=0)}, F32), "do not lie within"),
    "one offset": (
        written({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0]}}, F32),
        "two byte",
    ),
    "negative offset": (written({"x": entry(begin=-8, end=0)}, F32), "two byte positions"),
    "overlap": (written({"x": entry(), "y": entry((1,), 4, 8)}, F32), "overlaps another tensor"),
    "same bytes": (written({"x": entry(), "y": entry()}, F32), "overlaps another tensor"),
    "hole": (written({"x": entry((1,), 4, 8)}, F32), "leaves a hole"),
    "bytes at the end": (written({"x": entry()}, F32 + b"\0"), "of which tensors name 8"),
    "metadata is a list": (written({"__metadata__": []}), "must map strings"),
    "metadata holds a number": (written({"__metadata__": {"a": 1}}), "must map strings"),
    "bool of two": (written({"x": entry((1,), 0, 1, "BOOL")}, b"\2"), "other than 0 and 1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(load, name):
    data, words = HOSTILE[name]
    with pytest.raises(ValueError, match=words) as caught:
        load(data)
    assert "model.safetensors" in str(caught.value)


def test_foreign_dtypes_are_refused_by_name(load):
    with pytest.raises(NotImplementedError, match="'x': dtype F8_E4M3"):
        load(written({"x": entry((8,), dtype="F8_E4M3")}, F32))


def test_truncated_at_every_length(tmp_path, load):
    pyburn.save({"a": pyburn.arange(5), "b": pyburn.ones(3)}, tmp_path / "whole.safetensors")
    whole = (tmp_path / "whole.safetensors").read_bytes()
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"model\.safetensors"):
            load(whole[:length])


def test_flipped_bits_of_the_header_never_crash(tmp_path, load):
    tensors = {"a": pyburn.arange(5), "b": pyburn.ones(3)}
    pyburn.save(tensors, tmp_path / "whole.safetensors")
    whole = bytearray((tmp_path / "whole.safetensors").read_bytes())
    size = 8 + struct.unpack("<Q", whole[:8])[0]
    refused = 0
    for place in range(size):
        for bit in (0, 3, 6):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            try:
                loaded = load(bytes(damaged))
            except (ValueError, NotImplementedError):
                refused += 1
            else:
                # Names, dtypes of one width and the order of sizes carry no checksum.
                assert sum(value.nbytes for value in loaded.values()) == 52
    assert refused > 2 * size


@pytest.mark.parametrize("value", [[pyburn.ones(1)], {"a": 1}, {1: pyburn.ones(1)}, pyburn.ones(1)])
def test_only_dicts_of_tensors_are_written(tmp_path, value):
    with pytest.raises(TypeError):
        pyburn.save(value, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_complex128_is_refused(tmp_path):
    with pytest.raises(NotImplementedError, match="'a'"):
        pyburn.save({"a": pyburn.ones(1, dtype=pyburn.complex128)}, tmp_path / "x.safetensors")

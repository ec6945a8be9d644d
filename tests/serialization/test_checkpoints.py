"""PyTorch's checkpoint format: values and sharing kept, code never run."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import struct
import zipfile
from collections import Counter, OrderedDict

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
    "complex128",
]


def roundtrip(value, **options):
    file = io.BytesIO()
    pyburn.save(value, file)
    return pyburn.load(io.BytesIO(file.getvalue()), **options)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_shape_comes_back(name):
    kind = getattr(pyburn, name)
    tensors = [
        pyburn.arange(7).to(kind),
        pyburn.zeros(0, 3, dtype=kind),
        pyburn.ones((), dtype=kind),
        pyburn.arange(12).to(kind).reshape(3, 4).t()[1:, ::2],
    ]
    for before, after in zip(tensors, roundtrip(tensors), strict=True):
        assert after.dtype == kind
        assert after.shape == before.shape
        assert after.stride() == before.stride()
        assert pyburn.equal(after, before)


VALUES = [
    None,
    True,
    False,
    0,
    255,
    256,
    65535,
    65536,
    -1,
    -(2**31),
    2**31,
    2**63,
    -(2**200),
    0.0,
    -0.5,
    float("inf"),
    1e-300,
    "",
    "text",
    "\u00e9\U0001f525",
    b"",
    b"\x00\xff",
    bytearray(b"ab"),
    1 + 2j,
    (),
    (1,),
    (1, 2),
    (1, 2, 3),
    (1, 2, 3, 4),
    [],
    [1, [2, [3]]],
    {},
    {"a": {"b": 1}},
    {1, 2},
    set(),
    {None: 1, 2: 3, 2.5: 4, b"k": 5, (1, "a"): 6},
    OrderedDict(b=1, a=2),
    Counter("abca"),
    pyburn.Size([2, 3]),
    pyburn.float32,
    pyburn.device("cpu"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_come_back(value):
    loaded = roundtrip([value, value])[1]
    assert type(loaded) is type(value)
    assert loaded == value


def test_state_dicts_keep_their_attributes():
    state = OrderedDict(weight=pyburn.ones(2))
    state._metadata = OrderedDict([("", {"version": 1})])
    assert roundtrip(state)._metadata == state._metadata


def test_requires_grad_and_meta_come_back():
    loaded = roundtrip(
        {"w": pyburn.ones(2, requires_grad=True), "m": pyburn.zeros(2, 3, device="meta")}
    )
    assert loaded["w"].requires_grad
    assert loaded["w"].is_leaf
    assert loaded["m"].is_meta
    assert loaded["m"].shape == (2, 3)


def test_views_and_identity_are_kept():
    base = pyburn.arange(12.0).reshape(3, 4)
    shared = [1]
    value = {"base": base, "row": base[1], "same": base, "a": shared, "b": shared}
    loaded = roundtrip(value)
    assert loaded["base"] is loaded["same"]
    assert loaded["a"] is loaded["b"]
    loaded["row"].fill_(-1)
    assert loaded["base"][1].tolist() == [-1.0] * 4
    assert base[1].tolist() == [4.0, 5.0, 6.0, 7.0]


def test_a_small_view_does_not_save_its_whole_base(tmp_path):
    pyburn.save(pyburn.zeros(1_000_000)[500:510], tmp_path / "x.pt")
    assert (tmp_path / "x.pt").stat().st_size < 5000
    assert pyburn.load(tmp_path / "x.pt").shape == (10,)


def test_an_expanded_view_stays_small(tmp_path):
    pyburn.save(pyburn.ones(1).expand(1_000_000), tmp_path / "x.pt")
    assert (tmp_path / "x.pt").stat().st_size < 5000
    assert pyburn.load(tmp_path / "x.pt").sum() == 1_000_000


def test_containers_may_contain_themselves():
    value = [1]
    value.append(value)
    loaded = roundtrip(value)
    assert loaded[1] is loaded
    with pytest.raises(ValueError, match="nests too deeply"):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        roundtrip(deep)


def test_one_memory_as_two_dtypes_is_refused():
    tensor = pyburn.ones(2)
    with pytest.raises(RuntimeError, match="same memory as different dtypes"):
        roundtrip([tensor, tensor.view(pyburn.int32)])


class Custom:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Custom(), "Custom"),
        (len, "builtin_function_or_method"),
        ({"a": [Custom()]}, r"Custom at \['a'\]\[0\]"),
        ({frozenset(): 1}, "frozenset"),
        ({"x": __import__("numpy").ones(1)}, r"numpy\.ndarray at \['x'\].*from_numpy"),
        (__import__("numpy").float64(1), r"numpy\.float64.*\.item\(\)"),
        (1 << 3000, "longer than 255 bytes"),
    ],
    ids=str,
)
def test_what_cannot_be_stored_is_named(value, words):
    with pytest.raises(TypeError, match=words):
        roundtrip(value)


def test_map_location(tmp_path):
    path = tmp_path / "x.pt"
    pyburn.save([pyburn.ones(2)], path)
    seen = []

    def place(tensor, location):
        seen.append(location)
        return tensor

    for wanted in (None, "cpu", pyburn.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, place):
        assert pyburn.load(path, map_location=wanted)[0].device == pyburn.device("cpu")
    assert seen == ["cpu"]
    assert pyburn.load(path, map_location="meta")[0].is_meta
    with pytest.raises(TypeError, match="map_location must give a tensor"):
        pyburn.load(path, map_location=lambda tensor, location: 1)


# Files by hand.


def archive(data, storages=None, more=None, prefix="archive"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr(f"{prefix}/data.pkl", data)
        for key, content in (storages or {"0": struct.pack("<4f", 1, 2, 3, 4)}).items():
            out.writestr(f"{prefix}/data/{key}", content)
        for name, content in (more or {}).items():
            out.writestr(f"{prefix}/{name}", content)
    return file.getvalue()


def reference(kind="FloatStorage", key="0", place="cpu", numel=4):
    return (
        b"(X\x07\0\0\0storagectorch\n"
        + kind.encode()
        + b"\n"
        + b"".join(b"X" + struct.pack("<I", len(t)) + t.encode() for t in (key, place))
        + b"J"
        + struct.pack("<i", numel)
        + b"tQ"
    )


def tensor(storage=None, offset=0, size=(4,), stride=(1,)):
    def numbers(values):
        return b"(" + b"".join(b"\x8a\x08" + struct.pack("<q", v) for v in values) + b"t"

    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + (storage or reference())
        + b"\x8a\x08"
        + struct.pack("<q", offset)
        + numbers(size)
        + numbers(stride)
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def load(data, tmp_path):
    path = tmp_path / "bad.pt"
    path.write_bytes(data)
    return pyburn.load(path)


def test_a_hand_made_checkpoint_is_read(tmp_path):
    found = load(archive(b"\x80\x02" + tensor(size=(2, 2), stride=(1, 2)) + b"."), tmp_path)
    assert found.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_big_endian_checkpoints_are_read(tmp_path):
    data = archive(
        b"\x80\x02" + tensor() + b".", {"0": struct.pack(">4f", 1, 2, 3, 4)}, {"byteorder": "big"}
    )
    assert load(data, tmp_path).tolist() == [1.0, 2.0, 3.0, 4.0]


class Evil:
    """Runs a command where pickles run code."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


RUN = []


def test_no_code_is_run(tmp_path):
    flag = tmp_path / "ran"
    command = f"touch {flag}"
    attacks = [
        pickle.dumps(Evil(os.system, command), protocol=protocol)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    attacks += [
        pickle.dumps(Evil(eval, f"__import__('os').system('{command}')"), 2),
        pickle.dumps(Evil(exec, "1"), 4),
        pickle.dumps(Evil(getattr, "a", "upper"), 2),
    ]
    source = f"(S'{command}'\nios\nsystem\n."  # INST
    attacks += [
        source.encode(),
        f"cos\nsystem\n(S'{command}'\ntR.".encode(),
        f"(cos\nsystem\nS'{command}'\no.".encode(),  # OBJ
        b"c__builtin__\neval\n(V1\ntR.",
        b"ctorch\nload\n)R.",
        b"cbuiltins\nopen\n)R.",
        b"cpyburn\nload\n)R.",
        b"ctorch._utils\n__dict__\n.",
        b"cos.path\njoin\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    ]
    for attack in attacks:
        with pytest.raises(pickle.UnpicklingError, match=r"bad\.pt.*byte \d+: refused"):
            load(archive(attack), tmp_path)
    assert not flag.exists()


def test_the_refused_global_is_named(tmp_path):
    system = os.system.__module__
    with pytest.raises(pickle.UnpicklingError, match=f"'{system}.system'"):
        load(archive(pickle.dumps(Evil(os.system, "true"), 2)), tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="sparse"):
        load(archive(b"ctorch._utils\n_rebuild_sparse_tensor\n."), tmp_path)
    with pytest.raises(pickle.UnpicklingError, match=r"numpy.*from_numpy"):
        load(archive(b"cnumpy.core.multiarray\nscalar\n."), tmp_path)


MALFORMED = {
    "empty": b"",
    "no stop": b"\x80\x02N",
    "stack underflow": b"\x80\x02.",
    "pop past a mark": b"N(0" + b"0.",
    "no mark": b"t.",
    "left over": b"NN.",
    "memo miss": b"h\x07.",
    "huge memo": b"Nr\xff\xff\xff\x7f0h\x01.",
    "long string": b"X\xff\xff\xff\xffab.",
    "longer string": b"\x8d" + b"\xff" * 8 + b"ab.",
    "long bytes": b"\x8e" + b"\xff" * 7 + b"\x7fab.",
    "long integer": b"\x8b\xff\xff\xff\x7f\0.",
    "negative integer size": b"\x8b\xff\xff\xff\xff\0.",
    "digits": b"I" + b"9" * 100_000 + b"\n.",
    "not digits": b"I12x\n.",
    "bad text": b"X\x01\0\0\0\xff.",
    "protocol": b"\x80\x63N.",
    "persistent text": b"P0\n.",
    "extension": b"\x82\x01.",
    "set in a list": b"]NNs.",
    "append to a dict": b"}Na.",
    "append to a tensor": tensor() + b"Na.",
    "odd items": b"}(Nu.",
    "list as a key": b"}]Ns.",
    "call a number": b"K\x01)R.",
    "arguments are a list": b"ccollections\nOrderedDict\n]R.",
    "state for a dict": b"}}b.",
    "state for a tensor": tensor() + b"}X\x04\0\0\0dataNsb.",
    "dunder state": b"ccollections\nOrderedDict\n)R}X\x09\0\0\0__class__Nsb.",
    "method state": b"ccollections\nOrderedDict\n)R}X\x05\0\0\0itemsNsb.",
    "state for a function": b"ctorch._utils\n_rebuild_tensor_v2\n}b.",
    "constructor as a value": b"ctorch\nSize\n.",
    "storage as a value": reference() + b".",
    "storage in a tuple": reference() + b"\x85.",
    "storage type in a list": b"](ctorch\nFloatStorage\ne.",
    "hooks": tensor().replace(b")RtR", b")RX\x01\0\0\0aK\x01stR"),
    "no storage": tensor(b"N"),
    "negative offset": tensor(offset=-1),
    "offset past the end": tensor(offset=1),
    "size past the end": tensor(size=(5,)),
    "stride past the end": tensor(stride=(2,)),
    "negative size": tensor(size=(-4,)),
    "negative stride": tensor(offset=3, stride=(-1,)),
    "huge size": tensor(size=(2**61, 2**61), stride=(0, 0)),
    "huge stride": tensor(size=(2,), stride=(2**61,)),
    "ranks differ": tensor(size=(2, 2), stride=(1,)),
    "storage of another size": tensor(reference(numel=5)),
    "storage of negative size": tensor(reference(numel=-1)),
    "no such storage": tensor(reference(key="9")),
    "path as a key": tensor(reference(key="../../0")),
    "storage of two types": b"](" + tensor() + tensor(reference("IntStorage")) + b"e.",
    "unknown storage": tensor(reference("QInt8Storage")),
    "unknown place": tensor(reference(place="moon")),
    "device": b"ctorch\ndevice\n(X\x04\0\0\0moontR.",
    "bytes in a strange encoding": b"c_codecs\nencode\n(X\x01\0\0\0aX\x05\0\0\0rot13tR.",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_pickles_are_refused(tmp_path, name):
    data = MALFORMED[name]
    if not data.endswith(b".") and data:
        data += b"."
    if name == "no stop":
        data = data[:-1]
    with pytest.raises((pickle.UnpicklingError, ValueError, RuntimeError)) as caught:
        load(archive(data), tmp_path)
    assert name == "unknown place" or "bad.pt" in str(caught.value), str(caught.value)


def test_many_references_stay_cheap(tmp_path):
    # Ten thousand levels, each twice the one before: walking them all would never end.
    data = b"N" + b"\x85" + b"2\x86" * 10_000 + b"0N."
    assert load(archive(data), tmp_path) is None
    dictionary = b"}" + b"N" + b"\x85" + b"2\x86" * 50 + b"Ns."
    with pytest.raises(pickle.UnpicklingError, match="as a key"):
        load(archive(dictionary), tmp_path)


def test_bools_of_other_bytes_are_refused(tmp_path):
    data = b"\x80\x02" + tensor(reference("BoolStorage", numel=1), size=(1,)) + b"."
    with pytest.raises((ValueError, pickle.UnpicklingError), match="other than 0 and 1"):
        load(archive(data, {"0": b"\2"}), tmp_path)


def test_other_archives_are_named(tmp_path):
    with pytest.raises(NotImplementedError, match="TorchScript"):
        load(archive(b"N.", more={"constants.pkl": "N."}), tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="version, byte 15: it ends.*truncated"):
        load(pickle.dumps(0x1950A86A20F9469CFC6C, 2), tmp_path)
    with pytest.raises(ValueError, match="bare pickle"):
        load(pickle.dumps([1], 2), tmp_path)
    with pytest.raises(ValueError, match="empty"):
        load(b"", tmp_path)
    with pytest.raises(ValueError, match="no known format"):
        load(b"hello world, how are you", tmp_path)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("readme.txt", "x")
    with pytest.raises(ValueError, match=r"no record data\.pkl"):
        load(file.getvalue(), tmp_path)


def test_compressed_pickles_do_not_bomb(tmp_path):
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out,
        out.open("archive/data.pkl", "w", force_zip64=True) as record,
    ):
        for _ in range(70):
            record.write(b"N" * (1 << 24))
    with pytest.raises(ValueError, match="zip bomb"):
        load(file.getvalue(), tmp_path)


def test_truncated_at_every_length(tmp_path):
    file = io.BytesIO()
    pyburn.save({"a": pyburn.arange(5), "n": [1, "x"]}, file)
    whole = file.getvalue()
    for length in range(len(whole)):
        with pytest.raises((ValueError, pickle.UnpicklingError), match=r"bad\.pt"):
            load(whole[:length], tmp_path)


def test_truncated_pickles(tmp_path):
    file = io.BytesIO()
    pyburn.save({"a": pyburn.arange(5), "n": [1, "x", 2**70, b"ab"]}, file)
    data = zipfile.ZipFile(io.BytesIO(file.getvalue())).read("archive/data.pkl")
    for length in range(len(data)):
        with pytest.raises(pickle.UnpicklingError, match=r"bad\.pt"):
            load(archive(data[:length], {"0": b"\0" * 40}), tmp_path)


def test_flipped_bits_are_an_error_or_harmless(tmp_path):
    value = {"a": pyburn.arange(5), "n": [1, "x"]}
    file = io.BytesIO()
    pyburn.save(value, file)
    whole, refused = file.getvalue(), 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        try:
            loaded = load(bytes(damaged), tmp_path)
        except (ValueError, RuntimeError, pickle.UnpicklingError):
            refused += 1
        else:
            assert loaded["n"] == value["n"]
            assert pyburn.equal(loaded["a"], value["a"])
    assert refused > len(whole) // 4


def test_random_pickles_are_never_more_than_refused(tmp_path):
    file = io.BytesIO()
    pyburn.save({"a": pyburn.arange(5), "n": [1, "x", (1.5, b"q")], "o": OrderedDict(a=1)}, file)
    data = zipfile.ZipFile(io.BytesIO(file.getvalue())).read("archive/data.pkl")
    opcodes = bytes(ord(op.code) for op in pickletools.opcodes)
    generator = __import__("random").Random(0)
    outcomes = Counter()
    for _ in range(1500):
        damaged = bytearray(data)
        for _ in range(generator.randint(1, 4)):
            place = generator.randrange(len(damaged))
            damaged[place] = generator.choice(opcodes)
        try:
            load(archive(bytes(damaged), {"0": b"\0" * 40}), tmp_path)
            outcomes["read"] += 1
        except (ValueError, RuntimeError, pickle.UnpicklingError):
            outcomes["refused"] += 1
    assert outcomes["refused"] > 1000

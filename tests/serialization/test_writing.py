"""Files are replaced whole or not at all, and arguments are checked."""

from __future__ import annotations

import errno
import io
import os
import pickle
import signal
import stat
import subprocess
import sys
import textwrap

import pyburn
import pytest
from pyburn.serialization import _files

NAMES = ["x.pt", "x.safetensors", "x.npz"]


@pytest.mark.parametrize("name", [*NAMES, "x.npy"])
def test_files_by_name_and_open_files(tmp_path, name):
    value = pyburn.arange(3) if name == "x.npy" else {"a": pyburn.arange(3)}
    for path in (tmp_path / name, str(tmp_path / name), os.fsencode(tmp_path / name)):
        pyburn.save(value, path)
        pyburn.load(path)
    with open(tmp_path / "open", "wb") as file:
        pyburn.save(value, file, format=name[2:])
    assert (tmp_path / "open").read_bytes() == (tmp_path / name).read_bytes()
    with open(tmp_path / "open", "rb") as file:
        loaded = pyburn.load(file)
    loaded = loaded if name == "x.npy" else loaded["a"]
    assert loaded.tolist() == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == sorted(["open", name])


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_the_old_file(tmp_path, name, monkeypatch):
    path = tmp_path / name
    pyburn.save({"a": pyburn.zeros(3)}, path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        pyburn.save({"a": pyburn.ones(1000)}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("name", ["pt", "safetensors", "npz"])
def test_a_device_without_space_is_an_error(name):
    with pytest.raises(OSError, match="No space"):
        pyburn.save({"a": pyburn.ones(100_000)}, "/dev/full", format=name)


@pytest.mark.parametrize("name", NAMES)
def test_an_error_on_the_way_leaves_the_old_file(tmp_path, name, monkeypatch):
    path = tmp_path / name
    pyburn.save({"a": pyburn.zeros(3)}, path)
    before = path.read_bytes()

    def broken(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(_files.os, "replace", broken)
    with pytest.raises(KeyboardInterrupt):
        pyburn.save({"a": pyburn.ones(1000)}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(os.name != "posix", reason="kills a process with a signal")
def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "x.pt"
    pyburn.save({"a": pyburn.zeros(10)}, path)
    program = textwrap.dedent(
        f"""
        import os, signal, pyburn
        from pyburn.serialization import _files
        value = {{"a": pyburn.ones(1_000_000)}}
        fsync = os.fsync
        def die(descriptor):
            os.kill(os.getpid(), signal.SIGKILL)
        _files.os.fsync = die
        pyburn.save(value, {str(path)!r})
        """
    )
    done = subprocess.run([sys.executable, "-c", program], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    assert pyburn.load(path)["a"].tolist() == [0.0] * 10


@pytest.mark.skipif(os.name != "posix", reason="permissions and links are POSIX's")
def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "x.pt", tmp_path / "link.pt"
    pyburn.save(1, path)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    link.symlink_to(path)
    pyburn.save(2, link)
    assert link.is_symlink()
    assert pyburn.load(path) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_paths_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        pyburn.save(1, tmp_path / "none" / "x.pt")
    with pytest.raises(IsADirectoryError):
        pyburn.save(1, tmp_path)
    with pytest.raises(FileNotFoundError):
        pyburn.load(tmp_path / "none.pt")


def test_wrong_arguments(tmp_path):
    with pytest.raises(TypeError, match="writable file"):
        pyburn.save(1, 3)
    with pytest.raises(TypeError, match="readable file"):
        pyburn.load(3)
    with pytest.raises(TypeError, match="binary mode"):
        pyburn.load(io.StringIO("abc"))
    with pytest.raises(ValueError, match="format must be one of"):
        pyburn.save(1, tmp_path / "x", format="hdf5")
    with pytest.raises(ValueError, match="only the safetensors format has metadata"):
        pyburn.save(1, tmp_path / "x.pt", metadata={"a": "b"})
    with pytest.raises(NotImplementedError, match="pickle_module"):
        pyburn.save(1, tmp_path / "x.pt", pickle)
    with pytest.raises(NotImplementedError, match="pickle_module"):
        pyburn.load(tmp_path / "x.pt", pickle_module=pickle)
    with pytest.raises(ValueError, match="needs a path"):
        pyburn.load(io.BytesIO(b""), mmap=True)
    with pytest.raises((ValueError, RuntimeError), match="nowhere"):
        pyburn.load(tmp_path / "x.pt", map_location="nowhere")
    assert not list(tmp_path.iterdir())


def test_the_content_wins_over_a_wrong_extension(tmp_path):
    path = tmp_path / "x.bin"
    pyburn.save({"a": pyburn.ones(1)}, path, format="safetensors")
    assert pyburn.load(path)["a"].tolist() == [1.0]
    pyburn.save({"a": pyburn.ones(1)}, path, format="npz")
    assert pyburn.load(path)["a"].tolist() == [1.0]
    (tmp_path / "y.pt").write_bytes((tmp_path / "x.bin").read_bytes())
    with pytest.raises(ValueError, match="no checkpoint"):
        pyburn.load(tmp_path / "y.pt")


@pytest.mark.parametrize("mmap", [False, True])
def test_a_large_tensor_comes_back(tmp_path, mmap):
    tensor = pyburn.arange(3_000_000, dtype=pyburn.float64)
    pyburn.save({"t": tensor}, tmp_path / "x.pt")
    assert pyburn.equal(pyburn.load(tmp_path / "x.pt", mmap=mmap)["t"], tensor)

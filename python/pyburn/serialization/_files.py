"""Files as they are read and written: byte ranges with names, and writes that happen whole or
not.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import secrets
import stat
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Source", "atomic", "fill", "is_path"]

_CHUNK = 1 << 24


def is_path(file: Any) -> bool:
    """Whether a file is given by its name."""
    return isinstance(file, str | bytes | os.PathLike)


class Source:
    """A file that is being read: its name, its size and any range of its bytes.

    With ``mapped``, arrays look at the file itself; what is written to them stays in memory.
    """

    def __init__(self, file: Any, mapped: bool = False) -> None:
        self._map: mmap.mmap | None = None
        if is_path(file):
            self.name = os.fsdecode(os.fspath(file))
            self.handle: BinaryIO = open(self.name, "rb")  # noqa: SIM115
            try:
                self.size = os.fstat(self.handle.fileno()).st_size
                if mapped and self.size:
                    self._map = mmap.mmap(self.handle.fileno(), 0, access=mmap.ACCESS_COPY)
            except BaseException:
                self.handle.close()
                raise
            return
        if not hasattr(file, "read"):
            raise TypeError(f"load: expected a path or a readable file, got {type(file).__name__}")
        if mapped:
            raise ValueError("load: mmap=True needs a path, got an open file")
        data = file.read()
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"load: expected a file opened in binary mode, read() gave {type(data).__name__}; "
                "hint: open it with 'rb'"
            )
        self.name = str(getattr(file, "name", "<file>"))
        self.handle = io.BytesIO(data)
        self.size = len(data)

    @property
    def mapped(self) -> bool:
        """Whether arrays look at the file itself."""
        return self._map is not None

    def read(self, start: int, size: int) -> bytes:
        """The bytes of a range, fewer where the file ends."""
        self.handle.seek(start)
        return self.handle.read(size)

    def array(self, start: int, size: int) -> np.ndarray[Any, Any]:
        """A writable array of the bytes of a range, all of which must be there."""
        import numpy as np

        if self._map is not None:
            return np.frombuffer(self._map, dtype="u1", count=size, offset=start)
        array = np.empty(size, dtype="u1")
        self.handle.seek(start)
        if fill(self.handle, array) != size:
            raise ValueError(
                f"load: '{self.name}' ended at byte {self.size} while bytes {start} to "
                f"{start + size} were read; it changed or is truncated"
            )
        return array

    def close(self) -> None:
        """Closes the file; mapped arrays stay valid."""
        self.handle.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def fill(stream: Any, array: Any) -> int:
    """Reads into an array of bytes until it is full or the stream ends; how many were read."""
    view, at = memoryview(array), 0
    while at < len(view):
        got = stream.readinto(view[at : at + _CHUNK])
        if not got:
            break
        at += got
    return at


@contextlib.contextmanager
def atomic(file: Any) -> Generator[BinaryIO]:
    """A file to write. A path gets its new content whole when the block ends, or keeps the old."""
    if not is_path(file):
        if not hasattr(file, "write"):
            raise TypeError(f"save: expected a path or a writable file, got {type(file).__name__}")
        yield file
        return
    # A link stays a link: the file it leads to is replaced.
    path = os.path.realpath(os.fsdecode(os.fspath(file)))
    try:
        before = os.stat(path).st_mode
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before):
        if stat.S_ISDIR(before):
            raise IsADirectoryError(f"save: '{path}' is a directory")
        # Devices and pipes cannot be replaced.
        with open(path, "wb") as handle:
            yield handle
        return
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(6)}.tmp")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(draft, flags, 0o666)
    except FileNotFoundError:
        raise FileNotFoundError(f"save: there is no folder '{folder}'") from None
    try:
        with os.fdopen(number, "w+b") as handle:
            if before is not None and hasattr(os, "fchmod"):
                os.fchmod(number, stat.S_IMODE(before))
            yield handle
            handle.flush()
            os.fsync(number)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    if os.name == "posix":
        # The new name is safe once the folder is.
        number = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # some file systems cannot sync a folder
                os.fsync(number)
        finally:
            os.close(number)

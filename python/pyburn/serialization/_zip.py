"""Zip archives of untrusted origin, and archives whose records are aligned."""

from __future__ import annotations

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Generator
from typing import IO, Any, BinaryIO

from ._files import Source

__all__ = ["Archive", "Writer"]

_LOCAL = 30  # bytes of a record's own header before its name
_ALIGNED = 64
_DESCRIPTOR = 24
_RATIO = 200
_EXPANDED = 1 << 30
"""Compressed records that expand both more often than the ratio and to more than this are a
bomb.
"""
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Archive:
    """The records of a zip file, checked: unique names, no overlaps, no bombs, no encryption."""

    def __init__(self, source: Source) -> None:
        self.source = source
        where = f"load: '{source.name}'"
        source.handle.seek(0)
        try:
            self._zip = zipfile.ZipFile(source.handle)
            self._records = self._zip.infolist()
        except Exception as fault:
            raise self.translated(fault, where) from None
        self.records: dict[str, zipfile.ZipInfo] = {}
        expanded = compressed = 0
        for record in self._records:
            name = record.filename
            if name in self.records:
                raise ValueError(f"{where}: the record {name!r} is there twice")
            if record.flag_bits & 1:
                raise ValueError(f"{where}: the record {name!r} is encrypted")
            if record.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{where}: the record {name!r} is compressed in an unknown way")
            if record.compress_type == zipfile.ZIP_DEFLATED:
                expanded += record.file_size
                compressed += record.compress_size
            elif record.file_size != record.compress_size:
                raise ValueError(f"{where}: the record {name!r} has two sizes")
            self.records[name] = record
        if expanded > _EXPANDED and expanded > _RATIO * compressed:
            raise ValueError(
                f"{where}: {compressed} compressed bytes would expand to {expanded}; that many "
                "are refused as a zip bomb"
            )
        end = 0
        for record in sorted(self._records, key=lambda record: record.header_offset):
            self._adjoins(end, record.header_offset, f"the record {record.filename!r}")
            # Behind its data a record that was streamed has its sizes once more.
            end = self.start(record) + record.compress_size
            if end > source.size:
                raise ValueError(
                    f"{where}: the record {record.filename!r} should end at byte {end}, the file "
                    f"has {source.size}"
                )
        self._adjoins(end, self._zip.start_dir, "the directory")

    def _adjoins(self, end: int, start: int, what: str) -> None:
        """Fails if bytes belong to two records, or to none because one is not listed."""
        if start < end or start > end + _DESCRIPTOR:
            raise ValueError(
                f"load: '{self.source.name}': {what} at byte {start} "
                f"{'overlaps' if start < end else 'leaves a hole to'} what ends at {end}"
            )

    def start(self, record: zipfile.ZipInfo) -> int:
        """Where a record's data begins."""
        header = self.source.read(record.header_offset, _LOCAL)
        if len(header) < _LOCAL or header[:4] != b"PK\x03\x04":
            raise ValueError(
                f"load: '{self.source.name}': there is no record {record.filename!r} at byte "
                f"{record.header_offset}"
            )
        name, extra = struct.unpack("<HH", header[26:30])
        return record.header_offset + _LOCAL + name + extra

    @contextlib.contextmanager
    def open(self, record: zipfile.ZipInfo) -> Generator[IO[bytes]]:
        """A record's bytes as a stream that compares the checksum at its end."""
        where = f"load: '{self.source.name}', record {record.filename!r}"
        try:
            stream = self._zip.open(record)
        except Exception as fault:
            raise self.translated(fault, where) from None
        with stream:
            yield stream

    def read(self, record: zipfile.ZipInfo, limit: int) -> bytes:
        """A whole record."""
        where = f"load: '{self.source.name}', record {record.filename!r}"
        if record.file_size > limit:
            raise ValueError(f"{where}: {record.file_size} bytes are over the limit {limit}")
        with self.open(record) as stream:
            try:
                data = stream.read(record.file_size + 1)
            except Exception as fault:
                raise self.translated(fault, where) from None
        if len(data) != record.file_size:
            raise ValueError(f"{where}: expected {record.file_size} bytes, got {len(data)}")
        return data

    @staticmethod
    def translated(fault: Exception, where: str) -> Exception:
        """What zipfile says of a damaged file, as one kind of error that names the place."""
        if isinstance(fault, zipfile.BadZipFile | zlib.error | EOFError | struct.error):
            return ValueError(f"{where}: the archive is truncated or damaged: {fault}")
        if isinstance(
            fault, NotImplementedError | RuntimeError | UnicodeDecodeError | OverflowError
        ):
            return fault if str(fault).startswith("load") else ValueError(f"{where}: {fault}")
        if isinstance(fault, ValueError) and not str(fault).startswith("load"):
            return ValueError(f"{where}: {fault}")
        return fault


class Writer:
    """Writes an archive of uncompressed records whose data is aligned, so that it can be mapped."""

    def __init__(self, out: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        # After an error the file is dropped: its directory need not be written.
        if kind is None:
            self._zip.close()
        else:
            self._zip.fp = None

    @contextlib.contextmanager
    def record(self, name: str, size: int) -> Generator[IO[bytes]]:
        """A record to write, of at most the given size."""
        large = size >= 1 << 31
        info = zipfile.ZipInfo(name, _EPOCH)
        # Other libraries pad in this field, too; its code is theirs.
        start = self._zip.start_dir + _LOCAL + len(name.encode()) + (20 if large else 0) + 4
        info.extra = struct.pack("<2sH", b"FB", -start % _ALIGNED) + b"Z" * (-start % _ALIGNED)
        with self._zip.open(info, "w", force_zip64=large) as stream:
            yield stream

    def write(self, name: str, data: Any) -> None:
        """A whole record."""
        view = memoryview(data)
        with self.record(name, view.nbytes) as stream:
            stream.write(view)

"""Records as a Parquet table, one row each; the package pyarrow is an extra.

Texts, numbers and times are columns, links, images and posts lists of structs; ``extra`` is JSON as
text, because its values have no common type. The columns are made from the types of the fields.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, BinaryIO

import pyarrow
import pyarrow.json
import pyarrow.parquet
from msgspec import inspect as types

from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.output.record_writers import FieldPicker

BATCH_BYTES = 4 << 20
"""Lines that are parsed together: less is slower, more takes memory."""

GROUP_BYTES = 64 << 20
"""Size in memory of a row group, which a reader reads whole."""

_SIMPLE = {
    types.IntType: pyarrow.int64(),
    types.FloatType: pyarrow.float64(),
    types.StrType: pyarrow.string(),
    types.BoolType: pyarrow.bool_(),
    types.EnumType: pyarrow.string(),
    types.DateTimeType: pyarrow.timestamp("us", "UTC"),
    types.DictType: pyarrow.string(),
}


class ParquetWriter:
    """Writes records in JSON as rows."""

    def __init__(self, stream: BinaryIO, names: Sequence[str]) -> None:
        """Begins a table with the columns of these fields."""
        self._schema = _schema(names)
        self._picker = FieldPicker(names)
        self._names = names
        self._file = pyarrow.parquet.ParquetWriter(stream, self._schema, compression="zstd")
        self._lines: list[bytes] = []
        self._lines_bytes = 0
        self._tables: list[Any] = []

    def write(self, line: bytes, /) -> None:
        """Writes a record."""
        values = dict(zip(self._names, self._picker.values(line), strict=True))
        if "extra" in values:
            values["extra"] = json.dumps(values["extra"].decode(), ensure_ascii=False).encode()
        cells = (b'"%s":%s' % (name.encode(), value) for name, value in values.items())
        self._lines.append(b"{" + b",".join(cells) + b"}\n")
        self._lines_bytes += len(self._lines[-1])
        if self._lines_bytes >= BATCH_BYTES:
            self._parse()

    def close(self) -> None:
        """Writes the rows that are left and the footer."""
        self._parse()
        self._write_group()
        self._file.close()

    def _parse(self) -> None:
        if not self._lines:
            return
        data = b"".join(self._lines)
        table = pyarrow.json.read_json(
            io.BytesIO(data),
            # One block: a row may not be longer than a block.
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=self._schema, unexpected_field_behavior="error"
            ),
        )
        self._tables.append(table)
        self._lines, self._lines_bytes = [], 0
        if sum(each.nbytes for each in self._tables) >= GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        if self._tables:
            table = pyarrow.concat_tables(self._tables)
            self._file.write_table(table, row_group_size=table.num_rows)
            self._tables = []


def _schema(names: Sequence[str]) -> Any:
    found = types.type_info(CleanRecord)
    assert isinstance(found, types.DataclassType)  # noqa: S101 - for the type checker
    kinds = {field.name: _type(field.type) for field in found.fields}
    return pyarrow.schema([(name, kinds[name]) for name in names])


def _type(of: types.Type) -> Any:
    match of:
        case types.UnionType():  # of a type and None
            return _type(next(t for t in of.types if not isinstance(t, types.NoneType)))
        case types.VarTupleType():
            return pyarrow.list_(_type(of.item_type))
        case types.StructType() | types.DataclassType():
            return pyarrow.struct([(field.name, _type(field.type)) for field in of.fields])
    return _SIMPLE[type(of)]

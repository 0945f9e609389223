"""Untrusted files in and out: strict JSON, YAML with lines, versions, plain dataclasses, whole writes."""

from leastwise.documents.plain import Document, format_of, from_plain, from_text, to_plain, to_text
from leastwise.documents.reading import (
    LARGEST_DOCUMENT,
    Fields,
    Path,
    Problems,
    check_format,
    is_number,
    path_text,
    read_json,
    read_text,
)
from leastwise.documents.writing import (
    is_leftover,
    private_folder,
    remove_leftovers,
    sync_folder,
    whole_file,
    write_whole,
)

__all__ = [
    "LARGEST_DOCUMENT",
    "Document",
    "Fields",
    "Path",
    "Problems",
    "check_format",
    "format_of",
    "from_plain",
    "from_text",
    "is_leftover",
    "is_number",
    "path_text",
    "private_folder",
    "read_json",
    "read_text",
    "remove_leftovers",
    "sync_folder",
    "to_plain",
    "to_text",
    "whole_file",
    "write_whole",
]

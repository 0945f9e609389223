"""What goes into pages: texts of people and data, never read as markup, and the hashes of what may run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_MARKUP = re.compile(r"([\\`*_\[\]#|~!$])")
_AT_THE_START = re.compile(r"^([0-9]*)([-+=](?!\S)|(?<=[0-9])[.)](?!\S))")
SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Of every answer of a server of ours, beside its content security policy."""


def as_is(text: object) -> str:
    """Return a text that neither Markdown nor HTML reads anything into, in one line.

    >>> print(as_is("a | <b> *c* &amp; [d](e)"))
    a \\| &lt;b&gt; \\*c\\* &amp;amp; \\[d\\](e)
    >>> print(as_is("1. x"), as_is("- x"), as_is("0.5"), as_is("-3"))
    1\\. x \\- x 0.5 -3
    """
    # Not split(): a space that must not break stays.
    line = re.sub(r"[ \t\r\n\v\f\x1c-\x1f\x85\u2028\u2029]+", " ", str(text)).strip(" ")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _AT_THE_START.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", line))


def script_json(document: Any, indent: int | None = None) -> str:
    """Return JSON that is the same inside a script of an HTML page: no text can end the script or start another.

    >>> script_json("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def hash_sources(texts: Iterable[str]) -> str:
    """Return the sources of a policy that allow exactly these inline scripts or styles.

    >>> hash_sources(["p {}"])
    "'sha256-SNJDlN1Iy2mnt7DOjQIyDb2LQE6O5PQiSZomcdzawQ4='"
    >>> hash_sources([])
    "'none'"
    """
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"


def page_policy(styles: Iterable[str], scripts: Iterable[str] = ()) -> str:
    """Return the content security policy of a page that fetches nothing: exactly these styles and scripts."""
    allowed = f"script-src {hash_sources(scripts)}; style-src {hash_sources(styles)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


@cache
def templates(package: str) -> Environment:
    """Return the templates of a package; what is put into them is escaped, and what is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )

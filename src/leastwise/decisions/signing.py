"""Signatures of decisions: made and checked by ``ssh-keygen -Y``, with the keys that people have already."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from leastwise.errors import ParameterError

NAMESPACE = "leastwise-decision"
SUFFIX = ".sig"
_TOOL = "ssh-keygen"


def signature_of(path: Path) -> Path:
    """Return where the signature of a document lies."""
    return path.with_name(path.name + SUFFIX)


def sign(path: str | Path, key: str | Path) -> Path:
    """Sign a decision with a private key of OpenSSH (or a public one whose private half an agent holds)."""
    place = Path(path)
    if not Path(key).is_file():
        raise ParameterError(f"{key}: there is no such key; make one with: ssh-keygen -t ed25519")
    signature_of(place).unlink(missing_ok=True)
    done = _run("sign", "-f", str(key), "-n", NAMESPACE, str(place))
    if done.returncode or not signature_of(place).is_file():
        raise ParameterError(f"{place} could not be signed with {key}: {_last(done.stderr)}")
    return signature_of(place)


def signer(path: str | Path, signers: str | Path | None = None) -> str:
    """Return who signed a decision; complain where the signature does not fit it.

    Parameters
    ----------
    signers
        A file of allowed signers (``ssh-keygen(1)``); without it a signature is checked to be somebody's, and the
        fingerprint of that key is returned.
    """
    place = Path(path)
    signature = signature_of(place)
    if not signature.is_file():
        raise ParameterError(f"{place.name}: it is not signed; sign it with: leastwise decide --sign KEY")
    if signers is None:
        done = _run("check-novalidate", "-n", NAMESPACE, "-s", str(signature), content=place)
        if done.returncode:
            raise ParameterError(f"{place.name}: its signature is not of what it says now")
        return _last(done.stdout).rpartition(" key ")[2]
    if not Path(signers).is_file():
        raise ParameterError(f"{signers}: there is no such file of allowed signers")
    search = _run("find-principals", "-s", str(signature), "-f", str(signers))
    who = search.stdout.decode(errors="replace").split("\n")[0].strip()
    if search.returncode or not who:
        raise ParameterError(f"{place.name}: nobody of the allowed signers signed it")
    options = ("-f", str(signers), "-I", who, "-n", NAMESPACE, "-s", str(signature))
    if _run("verify", *options, content=place).returncode:
        raise ParameterError(f"{place.name}: its signature is not of what it says now")
    return who


def _run(what: str, *options: str, content: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    tool = shutil.which(_TOOL)
    if tool is None:
        raise ParameterError(f"signatures need {_TOOL} of OpenSSH 8.1 or later; install it")
    given = b"" if content is None else content.read_bytes()
    return subprocess.run([tool, "-Y", what, *options], input=given, capture_output=True, check=False)  # noqa: S603


def _last(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().split("\n")
    return lines[-1].strip() or "no message"

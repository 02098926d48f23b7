"""The PIN of the service menu: its hash, and ``python -m kiosk pin``, which makes one.

Invariant: a PIN is never written anywhere and never logged; what is kept is a salted scrypt hash.
"""

from __future__ import annotations

import base64
import binascii
import getpass
import hashlib
import hmac
import secrets
import sys
from collections.abc import Sequence
from typing import Final, TextIO

from kiosk.places import command

#: Digits in a PIN, at least and at most.
SHORTEST: Final = 4
LONGEST: Final = 12
#: How a hash looks: ``scrypt$N$r$p$salt$hash``, the last two in base64.
PATTERN: Final = (
    r"\Ascrypt\$[0-9]{1,7}\$[0-9]{1,2}\$[0-9]{1,2}\$[A-Za-z0-9+/]{16,88}={0,2}"
    r"\$[A-Za-z0-9+/]{43}=\Z"
)

# 16 MiB and a fraction of a second on a Raspberry Pi: enough to make guessing from the file slow.
_N: Final = 2**14
_R: Final = 8
_P: Final = 1
_LENGTH: Final = 32
#: What a hash in the file may cost at most; a larger one is refused rather than computed.
_MOST_MEMORY: Final = 128 * 2**20
_MOST_WORK: Final = 4


def is_pin(text: str) -> bool:
    """Whether this can be a PIN: 4 to 12 of the digits 0 to 9."""
    return text.isascii() and text.isdigit() and SHORTEST <= len(text) <= LONGEST


def hashed(pin: str, salt: bytes | None = None) -> str:
    """The hash of a PIN, for the settings file.

    Args:
        pin: 4 to 12 digits.
        salt: at least 12 bytes; None makes 16 random ones.

    Raises:
        ValueError: that is no PIN.
    """
    if not is_pin(pin):
        raise ValueError(f"a PIN is {SHORTEST} to {LONGEST} digits, and nothing else")
    salt = secrets.token_bytes(16) if salt is None else salt
    made = _scrypt(pin, salt, _N, _R, _P)
    return "$".join(
        ("scrypt", str(_N), str(_R), str(_P), *(base64.b64encode(b).decode() for b in (salt, made)))
    )


def matches(pin: str, kept: str) -> bool:
    """Whether ``pin`` is the one that ``kept`` was made from; a damaged hash matches nothing."""
    try:
        _name, n, r, p, salt, made = kept.split("$")
        cost = (int(n), int(r), int(p))
        if 128 * cost[0] * cost[1] > _MOST_MEMORY or cost[2] > _MOST_WORK:
            return False
        tried = _scrypt(pin, base64.b64decode(salt, validate=True), *cost)
        return hmac.compare_digest(tried, base64.b64decode(made, validate=True))
    except (ValueError, binascii.Error, MemoryError):
        return False


def _scrypt(pin: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(
        pin.encode(), salt=salt, n=n, r=r, p=p, dklen=_LENGTH, maxmem=2 * _MOST_MEMORY
    )


def main(
    arguments: Sequence[str] = (),
    *,
    source: TextIO | None = None,
    out: TextIO | None = None,
) -> int:
    """Ask for a PIN and print what belongs into the settings file; return the exit code.

    On a terminal it asks twice and shows nothing; otherwise it reads one line.
    """
    source, out = source or sys.stdin, out or sys.stdout
    if arguments:
        print(
            f"usage: {command()} pin\n\n"
            "Asks for a PIN (it is not given on the command line, where others can read it) and\n"
            "prints the line for the settings file.",
            file=out if set(arguments) <= {"-h", "--help"} else sys.stderr,
        )
        return 0 if set(arguments) <= {"-h", "--help"} else 2
    try:
        pin = _asked() if source.isatty() else source.readline().strip()
    except (EOFError, KeyboardInterrupt):
        print("\npyramid-kiosk: no PIN was given", file=sys.stderr)
        return 2
    if pin is None:
        print("pyramid-kiosk: the two PINs differ; nothing was made", file=sys.stderr)
        return 2
    try:
        line = hashed(pin)
    except ValueError as error:
        print(f"pyramid-kiosk: {error}", file=sys.stderr)
        return 2
    print("# Put this line into the settings file, below the line [service]:", file=sys.stderr)
    print(f'pin_hash = "{line}"', file=out)
    return 0


def _asked() -> str | None:
    first = getpass.getpass(f"PIN for the service menu ({SHORTEST} to {LONGEST} digits): ")
    if not is_pin(first):
        return first  # what is wrong with it is said once, by whoever hashes it
    return first if getpass.getpass("Once more: ") == first else None

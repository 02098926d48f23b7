"""Pictures of the screen: read as QEMU dumps them, judged, and kept as PNG.

Invariant: pure; a judgement depends on the picture alone.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from typing import Final

from kiosk.layout import Rect

#: A pixel whose brightest channel is below this is black to the eye.
BLACK: Final = 24
#: One whose darkest channel is above this may be the paper of a card.
PAPER: Final = 200
#: A picture with fewer different colours (of 4,096) is a console or a plain ground, not the table.
FEWEST_COLOURS: Final = 40

_HEADER: Final = re.compile(rb"P6\s+(\d+)\s+(\d+)\s+255\s")


@dataclass(frozen=True)
class Picture:
    """A picture of ``width`` x ``height`` px; ``data`` has three bytes a pixel, upper row first."""

    width: int
    height: int
    data: bytes

    @classmethod
    def from_ppm(cls, text: bytes) -> Picture:
        """Read a binary PPM file with one byte a channel.

        Raises:
            ValueError: it is none.
        """
        head = _HEADER.match(text)
        if head is None:
            raise ValueError("this is no PPM file with one byte a channel")
        width, height = int(head[1]), int(head[2])
        data = text[head.end() : head.end() + width * height * 3]
        if len(data) != width * height * 3:
            raise ValueError(f"the PPM file ends early: {width}x{height} px are {len(data)} bytes")
        return cls(width, height, data)

    def png(self) -> bytes:
        """The picture as a PNG file."""

        def chunk(kind: bytes, content: bytes) -> bytes:
            check = zlib.crc32(kind + content)
            return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

        row = self.width * 3
        rows = b"".join(b"\0" + self.data[at : at + row] for at in range(0, len(self.data), row))
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(parts)

    def cut(self, rect: Rect) -> Picture:
        """The part in a rectangle, whose origin is the picture's lower left corner."""
        x, right = max(0, rect.x), min(self.width, rect.right)
        upper, lower = max(0, self.height - rect.top), min(self.height, self.height - rect.y)
        rows = (
            self.data[(y * self.width + x) * 3 : (y * self.width + right) * 3]
            for y in range(upper, lower)
        )
        return Picture(right - x, lower - upper, b"".join(rows))

    def _share(self, low: int, high: int, *, brightest: bool) -> float:
        pick = max if brightest else min
        pixels = zip(*(self.data[channel::3] for channel in range(3)), strict=True)
        hits: int = sum(low <= pick(pixel) < high for pixel in pixels)
        return hits / max(1, self.width * self.height)

    @property
    def black(self) -> float:
        """The share of black pixels, 0 to 1."""
        return self._share(0, BLACK, brightest=True)

    @property
    def paper(self) -> float:
        """The share of pixels as light as the paper of a card, 0 to 1."""
        return self._share(PAPER, 256, brightest=False)

    @property
    def colours(self) -> int:
        """How many different colours there are, of the 4,096 that four bits a channel tell."""
        coarse = self.data.translate(bytes(value >> 4 for value in range(256)))
        return len(set(zip(coarse[0::3], coarse[1::3], coarse[2::3], strict=True)))

    @property
    def shows_something(self) -> bool:
        """Whether it is drawn: neither black, nor one ground, nor a console."""
        return self.black < 0.7 and self.colours >= FEWEST_COLOURS

    def changed(self, other: Picture) -> float:
        """The share of pixels that differ visibly from those of a picture of the same size.

        Raises:
            ValueError: the sizes differ.
        """
        if (self.width, self.height) != (other.width, other.height):
            raise ValueError("pictures of different sizes cannot be compared")
        pairs = zip(self.data, other.data, strict=True)
        far = bytes(abs(mine - theirs) > 24 for mine, theirs in pairs)
        pixels = zip(far[0::3], far[1::3], far[2::3], strict=True)
        return sum(any(pixel) for pixel in pixels) / max(1, self.width * self.height)

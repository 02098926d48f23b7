"""Card faces, icons and the table ground as Kivy textures, each drawn once for its size.

Invariant: a picture is drawn at exactly the pixel size at which it is shown, so a quad of that size
at whole coordinates shows every pixel as it was drawn; and a card is one quad, whatever it shows.
All pictures of one deck share one texture (several only where the GPU's largest texture is too
small), so that a whole table is drawn without changing textures.

Needs Kivy's window: textures live in its OpenGL context.  Call on the main thread only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from typing import Final

import resvg_py
from kivy.core.image import ImageLoader
from kivy.graphics import Fbo, Rectangle
from kivy.graphics.opengl import GL_MAX_TEXTURE_SIZE, glGetIntegerv
from kivy.graphics.texture import Texture, TextureRegion

from engine.cards import Card
from kiosk import art, theme
from kiosk.art import FaceStyle
from kiosk.picturecache import PictureCache

__all__ = ["FaceStyle", "Faces", "ground_texture", "icon_texture", "texture_of"]

#: Larger sheets gain nothing, and older GPUs refuse them.
_LARGEST_SHEET: Final = 4096


class Faces:
    """The deck for one card width.

    Args:
        card_width: width of a card in px, 24 or more; its height follows from 5 to 7.
        style: how the deck is printed.
        cache: where drawn sheets are kept for the next start; None keeps none.

    Attributes:
        card_size: (width, height) in px; every card, the back and the empty places have this size.
        back: a card from behind.
        empty: an empty place in the table.
        redeal: an empty place with the arrow that offers a redeal.
        shadow: a soft shadow, ``shadow_margin`` px larger than a card on each side.
        ring: a white frame round a card, to be tinted, ``ring_margin`` px larger on each side.
        glow: a soft white light round a card, to be tinted, ``glow_margin`` px larger.

    Raises:
        ValueError: ``card_width`` is too small to read or too large for the GPU.
    """

    def __init__(
        self,
        card_width: int,
        style: FaceStyle | None = None,
        cache: PictureCache | None = None,
    ) -> None:
        self.style: Final = style or FaceStyle()
        self.card_size: Final = art.card_size(card_width)
        self.shadow_margin: Final = art.shadow_margin(card_width)
        self.ring_margin: Final = art.ring_margin(card_width)
        self.glow_margin: Final = art.glow_margin(card_width)
        self._regions: dict[str, TextureRegion] = {}
        for page in art.pages(card_width, self.style, _largest_side()):
            texture = _upload(*_sheet(page.svg, cache))
            for name, box in page.places.items():
                # Regions count from the bottom; the sheet, like every SVG, from the top.
                bottom = page.height - box.y - box.height
                self._regions[name] = texture.get_region(box.x, bottom, box.width, box.height)
        self.back: Final = self._regions["back"]
        self.empty: Final = self._regions["empty"]
        self.redeal: Final = self._regions["redeal"]
        self.shadow: Final = self._regions["shadow"]
        self.ring: Final = self._regions["ring"]
        self.glow: Final = self._regions["glow"]

    def of(self, card: Card) -> TextureRegion:
        """The face of a card."""
        return self._regions[str(card)]

    @property
    def regions(self) -> Mapping[str, TextureRegion]:
        """Every picture by card text (``TH``) or name (``back``)."""
        return self._regions


@lru_cache(maxsize=256)
def icon_texture(name: str, px: int) -> Texture:
    """An icon as a white shape of ``px`` by ``px`` pixels, to be tinted by a ``Color``.

    Raises:
        KeyError: there is no such icon; the message lists those there are.
        ValueError: ``px`` is not positive.
    """
    if px < 1:
        raise ValueError(f"an icon of {px} px cannot be drawn")
    width, height, data = _pixels(art.icon(name), px)
    whitened = bytearray(data)
    for channel in range(3):
        # Transparent pixels come black and would darken the rim where the icon is scaled.
        whitened[channel::4] = b"\xff" * (width * height)
    return _upload(width, height, bytes(whitened))


def ground_texture(size: tuple[int, int], palette: theme.Palette = theme.PALETTE) -> Texture:
    """The table for a window of ``size`` px: a calm light a little above the middle.

    It is computed on the GPU in floating point and then roughened by half a step of 255, because
    a dark gradient rounded to 8 bits shows rings.
    """
    fbo = Fbo(size=size, fs=_GROUND_SHADER)
    fbo["inner"] = palette.ground[:3]
    fbo["outer"] = palette.ground_edge[:3]
    fbo["extent"] = [float(side) for side in size]
    with fbo:
        Rectangle(size=size)
    fbo.draw()
    return fbo.texture


_GROUND_SHADER: Final = """
$HEADER$
uniform vec3 inner;
uniform vec3 outer;
uniform vec2 extent;

void main(void) {
    vec2 middle = extent * vec2(0.5, 0.58);
    float far = distance(gl_FragCoord.xy, middle) / (0.56 * length(extent));
    vec3 colour = mix(inner, outer, smoothstep(0.0, 1.0, far));
    // Interleaved gradient noise (J. Jimenez, 2014).
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    gl_FragColor = vec4(colour + (noise - 0.5) / 255.0, 1.0);
}
"""


def _largest_side() -> int:
    return min(_LARGEST_SHEET, int(glGetIntegerv(GL_MAX_TEXTURE_SIZE)[0]))


def texture_of(svg: str) -> Texture:
    """Any SVG text as a texture of its own size, such as one picture of :func:`art.picture`.

    Raises:
        ValueError: ``svg`` is not an SVG text.
    """
    return _upload(*_pixels(svg))


_texture_of = texture_of  # the name that the rules page still uses


def _sheet(svg: str, cache: PictureCache | None) -> tuple[int, int, bytes]:
    """The pixels of a sheet, from the cache where they are there and whole."""
    if cache is None:
        return _pixels(svg)
    png = cache.get(svg)
    if png is not None:
        return _decoded(png)
    png = _drawn(svg)
    cache.put(svg, png)
    return _decoded(png)


def _pixels(svg: str, side: int | None = None) -> tuple[int, int, bytes]:
    """Draw an SVG text at its own size, or ``side`` px wide: width, height, RGBA from the top."""
    return _decoded(_drawn(svg, side))


def _drawn(svg: str, side: int | None = None) -> bytes:
    """Draw an SVG text at its own size, or ``side`` px wide, as a PNG file."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=side, skip_system_fonts=True))


def _decoded(png: bytes) -> tuple[int, int, bytes]:
    """Width, height, and RGBA pixels from the top."""
    able = (each for each in ImageLoader.loaders if each.can_load_memory())
    loader = next(each for each in able if "png" in each.extensions())
    image = loader("drawn.png", ext="png", inline=True, rawdata=BytesIO(png), keep_data=True)
    (data,) = image._data
    if data.fmt != "rgba":
        raise RuntimeError(f"the PNG decoder gave {data.fmt} pixels instead of rgba")
    return data.width, data.height, data.data


def _upload(width: int, height: int, data: bytes) -> Texture:
    texture = Texture.create(size=(width, height), colorfmt="rgba", bufferfmt="ubyte")
    texture.blit_buffer(data, colorfmt="rgba", bufferfmt="ubyte")
    texture.flip_vertical()
    return texture

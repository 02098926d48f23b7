"""Single cards as pictures on panels.

Invariant: they are the cards of the table, drawn by the same art, each once per size and style.
"""

from __future__ import annotations

from functools import lru_cache

from kivy.graphics.texture import Texture

from kiosk import art
from kiosk.art import FaceStyle
from kiosk.faces import texture_of


@lru_cache(maxsize=96)
def card_texture(name: str, width: int, style: FaceStyle) -> Texture:
    """One card (``TH``, ``back``, …) ``width`` px wide."""
    return texture_of(art.picture(name, width, style))

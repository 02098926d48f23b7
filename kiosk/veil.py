"""Black over the whole screen, for a light that cannot be dimmed.

Invariant: nothing is drawn while nothing is to be darkened.
"""

from __future__ import annotations

from kivy.core.window import Window
from kivy.graphics import Color, InstructionGroup, Rectangle


class Veil:
    """The veil; add :attr:`canvas` where it is to lie over everything.

    Attributes:
        share: how much of the light it takes, 0 to 1.
    """

    def __init__(self) -> None:
        self.canvas = InstructionGroup()
        self.share = 0.0

    def show(self, share: float) -> None:
        """Take that share of the light; again and again."""
        if share == self.share:
            return
        self.share = share
        self.canvas.clear()
        if share > 0:
            self.canvas.add(Color(0, 0, 0, share))
            # Larger than any screen: no matter how the window changes.
            self.canvas.add(Rectangle(size=(16_384, 16_384)))
        Window.canvas.ask_update()

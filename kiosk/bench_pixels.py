"""Drawing with or without pixels, for the benches.

Without a GPU nearly all of what a picture costs is its pixels, which the processor paints whose
time is measured.  A machine that has a GPU, as every Raspberry Pi has, pays for the rest: what the
program computes, what Kivy makes of it, what the driver is told.  That rest is what is left where
every triangle is thrown away before it is painted, and nobody waits for the picture.

Not to wait is not enough: after a while the driver paints all the same what has piled up.

Invariant: everything is drawn all the same, by the same calls.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

from kivy.graphics.opengl import (
    GL_CULL_FACE,
    GL_FRONT_AND_BACK,
    glCullFace,
    glDisable,
    glEnable,
    glFinish,
)


class Pixels:
    """Whether what is drawn from now on gets its pixels; at first it does.

    Attributes:
        painted: whether it does.
    """

    def __init__(self) -> None:
        self.painted = True

    def paint(self, wanted: bool) -> None:
        """Have pixels painted, or none.  What was drawn before is done when this returns."""
        glFinish()
        self.painted = wanted
        if wanted:
            glDisable(GL_CULL_FACE)
        else:
            glEnable(GL_CULL_FACE)
            glCullFace(GL_FRONT_AND_BACK)

    def finish(self) -> None:
        """After a frame: wait for its last pixel, if it gets any."""
        if self.painted:
            glFinish()

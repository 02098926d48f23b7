"""Many textured rectangles in one drawing call.

A card drawn as an instruction of its own costs more to send to the GPU than to draw; as four
corners in a mesh it costs almost nothing.  Corners are kept packed, so that what has not moved
costs a look-up, and the less if it is the same object as before.

Invariant: quads are drawn in the order given, later ones over earlier ones, and nothing is sent or
redrawn when the same quads are given again.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from struct import Struct
from typing import Any, Final, NamedTuple

from kivy.graphics import Mesh, RenderContext
from kivy.graphics.texture import Texture

from kiosk.theme import Colour

WHITE: Final[Colour] = (1.0, 1.0, 1.0, 1.0)

_VERTEX_SHADER: Final = """
$HEADER$
attribute vec4 vColor;

void main(void) {
    frag_color = vColor;
    tex_coord0 = vTexCoords0;
    gl_Position = projection_mat * modelview_mat * vec4(vPosition.xy, 0.0, 1.0);
}
"""

_FRAGMENT_SHADER: Final = """
$HEADER$

void main(void) {
    gl_FragColor = frag_color * texture2D(texture0, tex_coord0);
}
"""

_FORMAT: Final = [
    (b"vPosition", 2, "float"),
    (b"vTexCoords0", 2, "float"),
    (b"vColor", 4, "float"),
]
#: Floats of the four corners of a quad, and of the eight of a hollow one.
_FULL: Final = Struct("32f")
_HOLLOW: Final = Struct("64f")
#: The triangles of both, by corners: outer ones first, then inner ones, both from the lower left.
_FULL_TRIANGLES: Final = (0, 1, 2, 2, 3, 0)
_HOLLOW_TRIANGLES: Final = (
    *(0, 1, 5, 5, 4, 0),
    *(1, 2, 6, 6, 5, 1),
    *(2, 3, 7, 7, 6, 2),
    *(3, 0, 4, 4, 7, 3),
)


class Quad(NamedTuple):
    """A picture on the screen.

    Attributes:
        texture: the picture.
        x, y: lower left corner, px.
        w, h: size, px.
        colour: multiplies the picture.
        hollow: for a frame with nothing in it: how much of its width and height each of its
            borders takes, 0 to 0.5; only the borders are then drawn.  None draws all.
    """

    texture: Texture
    x: float
    y: float
    w: float
    h: float
    colour: Colour = WHITE
    hollow: tuple[float, float] | None = None


class _Packed(NamedTuple):
    """A quad as it is sent.  It holds the quad, whose identity is thus nobody else's."""

    quad: Quad
    texture_id: int
    corners: bytes
    hollow: bool


_TEXTURE: Final = itemgetter(1)


def _packed(quad: Quad) -> _Packed:
    texture, x, y, w, h, colour, hollow = quad
    corners = _corners(texture.tex_coords, (x, y, w, h), colour, hollow)
    return _Packed(quad, texture.id, corners, hollow is not None)


class QuadBatch:
    """Draws quads; :attr:`canvas` goes into a widget's canvas.

    Attributes:
        canvas: the Kivy instruction that draws them.
    """

    def __init__(self) -> None:
        self.canvas: Final = RenderContext(
            use_parent_projection=True, use_parent_modelview=True, use_parent_frag_modelview=True
        )
        self.canvas.shader.vs = _VERTEX_SHADER
        self.canvas.shader.fs = _FRAGMENT_SHADER
        if not self.canvas.shader.success:
            raise RuntimeError("the GPU refuses the shader that draws the cards")
        self._meshes: list[Any] = []
        #: What was shown last, by the identity of its quad: the same object needs no look at it.
        self._known: dict[int, _Packed] = {}
        self._sent: list[tuple[int, bytes, tuple[bool, ...]]] = []

    def show(self, quads: Sequence[Quad]) -> None:
        """Draw these and nothing else."""
        known = self._known
        packs = [known.get(id(quad)) or _packed(quad) for quad in quads]
        self._known = {id(pack[0]): pack for pack in packs}
        runs = [list(run) for _id, run in groupby(packs, key=_TEXTURE)]
        while len(self._meshes) > len(runs):
            self.canvas.remove(self._meshes.pop())
            self._sent.pop()
        while len(self._meshes) < len(runs):
            mesh = Mesh(fmt=_FORMAT, mode="triangles")
            self._meshes.append(mesh)
            self._sent.append((0, b"", ()))
            self.canvas.add(mesh)
        for i, run in enumerate(runs):
            texture = run[0].quad.texture
            packed = b"".join([each.corners for each in run])
            hollow = tuple([each.hollow for each in run])
            sent, self._sent[i] = self._sent[i], (texture.id, packed, hollow)
            if self._sent[i] == sent:
                continue
            mesh = self._meshes[i]
            if mesh.texture is not texture:
                mesh.texture = texture
            # Kivy copies them at each look; they seldom change, and then we know.
            if hollow != sent[2]:
                mesh.indices = _indices(hollow)
            vertices = array("f")
            vertices.frombytes(packed)
            mesh.vertices = vertices


_Four = tuple[float, float, float, float]


@lru_cache(maxsize=2048)
def _corners(
    tex: tuple[float, ...], box: _Four, colour: Colour, hollow: tuple[float, float] | None
) -> bytes:
    """The packed corners of a quad, the inner ones behind the outer ones if it is hollow."""
    # Texture coordinates come as lower left, lower right, upper right, upper left.
    u0, v0, u1, v1 = tex[0], tex[1], tex[4], tex[5]
    x0, y0, w, h = box
    x1, y1 = x0 + w, y0 + h
    outer = (
        *(x0, y0, u0, v0, *colour),
        *(x1, y0, u1, v0, *colour),
        *(x1, y1, u1, v1, *colour),
        *(x0, y1, u0, v1, *colour),
    )
    if hollow is None:
        return _FULL.pack(*outer)
    right, up = hollow[0] * w, hollow[1] * h
    du, dv = hollow[0] * (u1 - u0), hollow[1] * (v1 - v0)
    return _HOLLOW.pack(
        *outer,
        *(x0 + right, y0 + up, u0 + du, v0 + dv, *colour),
        *(x1 - right, y0 + up, u1 - du, v0 + dv, *colour),
        *(x1 - right, y1 - up, u1 - du, v1 - dv, *colour),
        *(x0 + right, y1 - up, u0 + du, v1 - dv, *colour),
    )


@lru_cache(maxsize=256)
def _indices(hollow: tuple[bool, ...]) -> list[int]:
    """The triangles of quads, each hollow or not."""
    indices: list[int] = []
    corners = 0
    for empty in hollow:
        triangles = _HOLLOW_TRIANGLES if empty else _FULL_TRIANGLES
        indices += [corners + corner for corner in triangles]
        corners += 8 if empty else 4
    return indices

"""Many textured rectangles in one drawing call.

A card drawn as an instruction of its own costs more to send to the GPU than to draw; as four
corners in a mesh it costs almost nothing.  Corners are kept packed, so that what has not moved
costs a look-up.

Invariant: quads are drawn in the order given, later ones over earlier ones, and nothing is sent or
redrawn when the same quads are given again.

Needs Kivy's window.  Call on the main thread only.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
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
#: Floats of the four corners of one quad.
_QUAD: Final = Struct("32f")


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
        self._sent: list[tuple[int, bytes]] = []

    def show(self, quads: Sequence[Quad]) -> None:
        """Draw these and nothing else."""
        runs = [list(run) for _id, run in groupby(quads, key=lambda quad: quad.texture.id)]
        while len(self._meshes) > len(runs):
            self.canvas.remove(self._meshes.pop())
            self._sent.pop()
        while len(self._meshes) < len(runs):
            mesh = Mesh(fmt=_FORMAT, mode="triangles")
            self._meshes.append(mesh)
            self._sent.append((0, b""))
            self.canvas.add(mesh)
        for i, run in enumerate(runs):
            texture = run[0].texture
            packed = b"".join(
                [
                    _corners(q.texture.tex_coords, (q.x, q.y, q.w, q.h), q.colour, q.hollow)
                    for q in run
                ]
            )
            if self._sent[i] == (texture.id, packed):
                continue
            self._send(self._meshes[i], texture, packed)
            self._sent[i] = (texture.id, packed)

    @staticmethod
    def _send(mesh: Any, texture: Texture, packed: bytes) -> None:
        vertices = array("f")
        vertices.frombytes(packed)
        indices = _indices(len(packed) // _QUAD.size)
        if mesh.texture is not texture:
            mesh.texture = texture
        if len(mesh.indices) != len(indices):
            mesh.indices = indices
        mesh.vertices = vertices


_Four = tuple[float, float, float, float]


@lru_cache(maxsize=2048)
def _corners(
    tex: tuple[float, ...], box: _Four, colour: Colour, hollow: tuple[float, float] | None
) -> bytes:
    """The packed corners of a quad, of four quads if it is hollow."""
    # Texture coordinates come as lower left, lower right, upper right, upper left.
    u, v, du, dv = tex[0], tex[1], tex[4] - tex[0], tex[5] - tex[1]
    x, y, w, h = box
    if hollow is None:
        parts: tuple[_Four, ...] = ((0.0, 0.0, 1.0, 1.0),)
    else:
        fx, fy = hollow
        parts = (
            (0.0, 0.0, 1.0, fy),
            (0.0, 1 - fy, 1.0, 1.0),
            (0.0, fy, fx, 1 - fy),
            (1 - fx, fy, 1.0, 1 - fy),
        )
    packed = b""
    for a, b, c, d in parts:
        x0, y0, x1, y1 = x + a * w, y + b * h, x + c * w, y + d * h
        u0, v0, u1, v1 = u + a * du, v + b * dv, u + c * du, v + d * dv
        packed += _QUAD.pack(
            *(x0, y0, u0, v0, *colour),
            *(x1, y0, u1, v0, *colour),
            *(x1, y1, u1, v1, *colour),
            *(x0, y1, u0, v1, *colour),
        )
    return packed


@lru_cache(maxsize=256)
def _indices(quads: int) -> list[int]:
    """Two triangles for each quad."""
    indices: list[int] = []
    for first in range(0, 4 * quads, 4):
        indices += (first, first + 1, first + 2, first + 2, first + 3, first)
    return indices

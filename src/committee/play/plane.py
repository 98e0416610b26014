"""The plane as cells: where each model is asked, and its answers in a few bytes."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.play.points import Axis
from committee.play.stages import Stages
from committee.plots.regions import cell_edges

# Cells along an axis, fewer where the page smooths them, and shares in all pictures of a run: two
# pictures for each round and class but the first.
_MOST_CELLS, _MOST_SMOOTH_CELLS = 100, 80
_MOST_SHARES = 1_200_000


@dataclass(frozen=True, eq=False)
class Plane:
    """Cells of a picture.

    Attributes
    ----------
    edges : tuple of two ndarrays
        Where cells begin and end, across and up.
    is_smooth : bool
        Whether predictions change within cells too.
    """

    edges: tuple[Floats, Floats]
    is_smooth: bool

    @classmethod
    def of(cls, stages: Stages, n_classes: int, axes: tuple[Axis, Axis]) -> Plane:
        """Return cells that show the borders of a fitted method, and are few enough."""
        n_pictures = 2 * len(stages.rounds) * (n_classes - 1)
        is_smooth = stages.trees is None
        most = _MOST_SMOOTH_CELLS if is_smooth else _MOST_CELLS
        most = min(most, int((_MOST_SHARES / n_pictures) ** 0.5))
        trees = [None] if stages.trees is None else stages.trees
        across, up = (cell_edges(trees, axis, axes[axis], most) for axis in (0, 1))
        return cls((across, up), is_smooth)

    @property
    def places(self) -> Floats:
        """The middles of the cells, row by row from below."""
        across, up = ((each[1:] + each[:-1]) / 2 for each in self.edges)
        grid = np.meshgrid(across, up)
        return np.column_stack([grid[0].ravel(), grid[1].ravel()])

    def to_json(self) -> dict[str, Any]:
        """Return what the page reads."""
        across, up = self.edges
        return {"x": across.tolist(), "y": up.tolist(), "is_smooth": self.is_smooth}


def share_parts(shares: Floats) -> NDArray[np.uint16]:
    """Return shares of all classes but the first in 65,535 parts, class by class.

    They are rounded down, so that the first of two equal classes stays the first.

    Examples
    --------
    >>> share_parts(np.array([[0.5, 0.5], [0, 1]])).tolist()
    [[32767, 65535]]
    """
    parts = np.clip(shares.T[1:], 0.0, 1.0) * 65535 + 1e-6
    return parts.astype(np.uint16)


def packed(values: Any, kind: str) -> str:
    """Return an array as base64: of bytes ("u1"), or of numbers of two or four ("<u2", "<f4")."""
    return b64encode(np.ascontiguousarray(values, np.dtype(kind)).tobytes()).decode("ascii")

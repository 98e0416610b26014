"""Free text as a few numbers: hashed character n-grams, weighted by rarity, shortened by an SVD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import Part, array
from committee.tables.column import Column

_N_HASHES = 4096
_N_PARTS = 32
_NGRAMS = (2, 4)


@register("auto.TextEncoder")
@dataclass(frozen=True, eq=False)
class TextEncoder:
    """Turns texts into a few numbers; it keeps no text.

    Attributes
    ----------
    rarity : ndarray of float64, shape (n_hashes,)
        Weights of the n-grams: the logarithm of the inverse share of texts that have them.
    directions : ndarray of float32, shape (n_parts, n_hashes)
        The directions in which texts differ most.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "rarity": array("f8", _N_HASHES, finite=True),
        "directions": array("f4", None, _N_HASHES, finite=True),
    }

    rarity: Floats
    directions: NDArray[np.float32]

    @classmethod
    def of(cls, column: Column) -> TextEncoder:
        """Find the directions in which the texts of a column differ most."""
        from sklearn.decomposition import TruncatedSVD

        counts = _counts(column)
        n_with = np.bincount(counts.indices, minlength=_N_HASHES)
        rarity = np.log((1 + counts.shape[0]) / (1 + n_with)) + 1
        n_parts = min(_N_PARTS, counts.shape[0] - 1)
        decomposition = TruncatedSVD(n_parts, random_state=0).fit(_weighted(counts, rarity))
        return cls(rarity, decomposition.components_.astype(np.float32))

    @property
    def n_parts(self) -> int:
        return len(self.directions)

    def apply(self, column: Column) -> Floats:
        """Return the numbers of each row; NaN where the text is missing."""
        levels = _weighted(_counts(column), self.rarity) @ self.directions.T.astype(np.float64)
        padded = np.vstack([levels, np.full((1, self.n_parts), np.nan)])
        return np.asarray(padded[np.where(column.values < 0, len(levels), column.values)])


def _counts(column: Column) -> Any:
    """Return the n-grams of each distinct text as a sparse matrix."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(
        analyzer="char_wb", ngram_range=_NGRAMS, n_features=_N_HASHES, alternate_sign=False
    )
    return vectorizer.transform([str(level) for level in column.levels or ()])


def _weighted(counts: Any, rarity: Floats) -> Any:
    from sklearn.preprocessing import normalize

    return normalize(counts.multiply(rarity).tocsr())

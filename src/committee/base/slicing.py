"""Ensembles in slices and joined: the numbers of members, and draws, which each member keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Rows
from committee.base.sampling import RowSampler
from committee.files.codec_classes import register
from committee.files.parts import Part, instance, list_of, whole


def sliced(index: slice, n_members: int, name: str, *, only_first: bool = False) -> Rows:
    """Return the numbers of the members in a slice of an ensemble.

    Parameters
    ----------
    index : slice
        Such as that of ``model[:50]``.
    n_members : int
        How many there are.
    name : str
        The class of the ensemble, for messages.
    only_first : bool, default=False
        Whether each member builds on those before.

    Returns
    -------
    numbers : ndarray of int
        At least one.

    Examples
    --------
    >>> sliced(slice(1, None, 2), 6, "RandomForestClassifier").tolist()
    [1, 3, 5]
    """
    numbers = np.arange(n_members)[index]
    if len(numbers) == 0:
        raise ValueError(f"a slice of {name} must hold a member; there are {n_members}")
    if only_first and (numbers != np.arange(len(numbers))).any():
        raise ValueError(
            f"a slice of {name} must be its first members, such as model[:{len(numbers)}]: each "
            "builds on those before"
        )
    return numbers


@register("JoinedSampler")
@dataclass(frozen=True, eq=False)
class JoinedSampler:
    """The draws of several ensembles, one after the other.

    Parameters
    ----------
    parts : list of RowSampler
        The draws of each.
    sizes : list of int
        Their numbers of members.

    Examples
    --------
    >>> from committee.base.sampling import plan_rows
    >>> a, b = plan_rows(6, seed=1), plan_rows(6, seed=2)
    >>> joined = JoinedSampler([a, b], [2, 2])
    >>> bool((joined.rows(3) == b.rows(1)).all())
    True
    """

    parts: list[RowSampler]
    sizes: list[int]

    _stored_parts: ClassVar[dict[str, Part]] = {
        "parts": list_of(instance(RowSampler), "parts", least=1),
        "sizes": list_of(whole(1), "parts", least=1),
    }

    @property
    def n_rows(self) -> int:
        """Rows of the table of the first part; features where these are drawn."""
        return self.parts[0].n_rows

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a row that may be drawn can be missing from a sample."""
        return any(part.leaves_rows_out for part in self.parts)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.sizes)

    def _find(self, member: int) -> tuple[int, int]:
        """Return the part of a member, and its number there."""
        part = int(np.searchsorted(self._ends, member, side="right"))
        return part, int(member - self._ends[part] + self.sizes[part])

    def origin(self, member: int) -> tuple[int, int]:
        """Return the seed of the ensemble that a member was made in, and its number there."""
        part, number = self._find(member)
        return self.parts[part].origin(number)

    def counts(self, member: int) -> NDArray[np.uint32]:
        """Return how often a member draws each row."""
        part, number = self._find(member)
        return self.parts[part].counts(number)

    def rows(self, member: int) -> NDArray[np.int64]:
        """Return the rows of a member in ascending order, a row drawn twice twice."""
        part, number = self._find(member)
        return self.parts[part].rows(number)

    def picked(self, members: NDArray[np.int64]) -> JoinedSampler:
        """Return the draws of some members, who are now numbered 0, 1, ..."""
        found = [self._find(int(member)) for member in members]
        parts, sizes = [], []
        for begin, end in _runs([part for part, _ in found]):
            numbers = np.array([number for _, number in found[begin:end]])
            parts.append(self.parts[found[begin][0]].picked(numbers))
            sizes.append(end - begin)
        return JoinedSampler(parts, sizes)

    def draws_like(self, other: object) -> bool:
        """Whether both draw the same samples; such ensembles are not continued."""
        return self is other

    def check_columns(self, n_features: int, n_members: int) -> None:
        """Raise ValueError unless loaded draws are of so many features, for so many members."""
        for part, size in zip(self.parts, self.sizes, strict=True):
            part.check_columns(n_features, size)
        if sum(self.sizes) != n_members:
            raise ValueError("the drawn features do not fit the members")


def _runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """Return where equal values follow each other."""
    ends = [k for k in range(1, len(values)) if values[k] != values[k - 1]] + [len(values)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


Draws = RowSampler | JoinedSampler


def join_draws(
    samplers: Sequence[Draws | None], sizes: Sequence[int], n_rows: Sequence[int]
) -> Draws | None:
    """Return the draws of joined ensembles.

    Parameters
    ----------
    samplers : sequence of RowSampler, JoinedSampler or None
        The draws of each; None where every member has all rows.
    sizes : sequence of int
        Their numbers of members.
    n_rows : sequence of int
        Rows (or features) of the table of each.

    Returns
    -------
    draws : RowSampler, JoinedSampler or None
        None if all members have all rows of tables of one size.
    """
    if all(sampler is None for sampler in samplers) and len(set(n_rows)) == 1:
        return None
    parts: list[RowSampler] = []
    counts: list[int] = []
    for sampler, size, n in zip(samplers, sizes, n_rows, strict=True):
        if isinstance(sampler, JoinedSampler):
            parts += sampler.parts
            counts += sampler.sizes
        else:
            everything = RowSampler(n, 0, n, with_replacement=False)
            parts.append(everything if sampler is None else sampler)
            counts.append(size)
    return JoinedSampler(parts, counts)


def refuse_changes(members: str, found: Sequence[str]) -> None:
    """Raise ValueError if new members would not be like those of the last fit.

    Parameters
    ----------
    members : str
        "members" or "trees".
    found : sequence of str
        What has changed since.
    """
    if found:
        raise ValueError(
            f"warm_start=True adds {members} that learn from the table of the last fit in the same "
            f"way, but these have changed: {'; '.join(found)}. Set warm_start=False to start anew"
        )

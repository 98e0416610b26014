"""Stacks of three tree ensembles, five folds and logistic regression on top.

Every figure of a promise was fixed before the first result. The peer runs in two ways, members
with all threads or members side by side, and the faster counts.
"""

from __future__ import annotations

from benchmarks.contestants.contestant import Contestant
from benchmarks.parts.overhead import OverheadPart, OverheadSize
from benchmarks.parts.race import (
    RacePart,
    RaceSize,
    fits_faster_than_all,
    scores_as_well_as_the_fastest,
)
from benchmarks.parts.repeated import Ratio, Repeats, SmallFitsPart
from benchmarks.parts.tables import Duel, TablesPart, TablesSize
from benchmarks.report.markdown import Part

_TOLERANCE = 0.0  # "at equal or better log loss": within one standard error


def _own(threads: int) -> Contestant:
    return Contestant(
        "committee stack",
        "benchmarks.contestants.stacks:own_stack",
        {},
        threads,
        "n_jobs",
        package="committee",
    )


def _peer(threads: int, side_by_side: bool) -> Contestant:
    label = "scikit-learn stack, members side by side" if side_by_side else "scikit-learn stack"
    return Contestant(
        label,
        "benchmarks.contestants.stacks:peer_stack",
        {"side_by_side": side_by_side},
        threads,
        "n_jobs",
        package="sklearn",
    )


_OWN, _OWN_1 = _own(2), _own(1)
_PEER, _PEER_BESIDE, _PEER_1 = _peer(2, False), _peer(2, True), _peer(1, False)
_PEERS = (_PEER.key, _PEER_BESIDE.key)


def _adult(side_by_side: bool) -> Duel:
    name = "members side by side" if side_by_side else "members with all threads"
    peer = Contestant(
        "scikit-learn stack",
        "benchmarks.contestants.stacks:prepared_peer_stack",
        {"side_by_side": side_by_side, "n_text": 8},
        2,
        "n_jobs",
        package="sklearn",
    )
    return Duel(name, (_OWN, peer), (_OWN, peer))


PARTS: tuple[Part, ...] = (
    RacePart(
        "stack-s",
        "A stack, 20,000 x 20",
        "classification S",
        (_OWN, _OWN_1, _PEER, _PEER_BESIDE, _PEER_1),
        _PEER.key,
        {
            "quick": RaceSize(n_train=2_000, n_test=2_000, resamples=2, single_row_calls=0),
            "full": RaceSize(n_train=20_000, n_test=20_000, resamples=5, single_row_calls=0),
        },
        noun="stack",
        promises=(
            fits_faster_than_all(_OWN.key, _PEERS, 10),
            fits_faster_than_all(_OWN_1.key, (_PEER_1.key,), 10),
            scores_as_well_as_the_fastest(_OWN.key, _PEERS, "log_loss", _TOLERANCE),
            scores_as_well_as_the_fastest(_OWN_1.key, (_PEER_1.key,), "log_loss", _TOLERANCE),
        ),
    ),
    TablesPart(
        "adult",
        "A stack, adult",
        (_adult(False), _adult(True)),
        {
            "quick": TablesSize(max_rows=50_000, resamples=1),
            "full": TablesSize(max_rows=50_000, resamples=3),
        },
        class_metric="log_loss",
        only=("adult",),
        times=10.0,
    ),
    SmallFitsPart(
        "small",
        "A stack, 569 x 30",
        "breast cancer",
        (_OWN, _OWN_1, _PEER, _PEER_BESIDE, _PEER_1),
        {"quick": Repeats(n_rows=569, rounds=1), "full": Repeats(n_rows=569, rounds=5)},
        (
            Ratio(_OWN.key, _PEER.key, 1 / 10),
            Ratio(_OWN.key, _PEER_BESIDE.key, 1 / 10),
            Ratio(_OWN_1.key, _PEER_1.key, 1 / 10),
        ),
    ),
    OverheadPart(
        "overhead",
        "A stack beside its members",
        "classification S",
        {
            "quick": OverheadSize((2_000,), rounds=1),
            "full": OverheadSize((20_000, 60_000), rounds=5),
        },
        at_most=0.05,
    ),
)

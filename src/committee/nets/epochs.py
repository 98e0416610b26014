"""Epochs of one net, or of the nets of all folds: how many there are is decided on unseen rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.work import Progress, in_order

Parameters = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """Rows that a net is measured on.

    Parameters
    ----------
    codes, fractions : ndarray
        The rows as the net reads them.
    classes : ndarray of int32 or None
        Their classes.
    reals : ndarray of float64, shape (n_rows, 1), or None
        Their targets in the units of the net.
    weights : ndarray of float64 or None
        Their weights.
    """

    codes: NDArray[np.uint32]
    fractions: NDArray[np.float32]
    classes: NDArray[np.int32] | None
    reals: Floats | None
    weights: Floats | None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(len(self.codes)) if self.weights is None else math.fsum(self.weights)

    def loss(self, net: _core.Net, n_threads: int) -> float:
        """Return the mean log loss, or half the mean squared error."""
        is_class = self.classes is not None
        predicted = net.predict(self.codes, self.fractions, is_class=is_class, n_threads=n_threads)
        if self.classes is not None:
            own = np.take_along_axis(predicted, self.classes[:, np.newaxis].astype(np.intp), 1)
            losses = _core.minus_logs(np.ascontiguousarray(own[:, 0]))
        else:
            assert self.reals is not None
            gap = (predicted - self.reals)[:, 0]
            losses = 0.5 * gap * gap
        if self.weights is not None:
            losses = losses * self.weights
        # Exact sums: neither the order of the rows nor the processor matters.
        return math.fsum(losses) / self.total if np.isfinite(losses).all() else math.inf


@dataclass(eq=False)
class NetRun:
    """A net on its way through the epochs.

    Parameters
    ----------
    shape : _core.NetShape
        Its sizes.
    trainer : _core.NetTrainer
        Learns.
    rows : ndarray of uint32
        Rows to learn from, in an order that their content decides.
    unseen : UnseenRows or None
        Rows to measure it on.
    learning_rate : float
        Of each step.
    """

    shape: _core.NetShape
    trainer: _core.NetTrainer
    rows: NDArray[np.uint32]
    unseen: UnseenRows | None
    learning_rate: float

    def advance(self, n_threads: int) -> tuple[Parameters, float]:
        """Run an epoch; return the parameters, and the loss on unseen rows (NaN without any)."""
        self.trainer.run_epoch(self.rows, self.learning_rate, n_threads)
        parameters = self.trainer.average()
        if self.unseen is None:
            return parameters, math.nan
        return parameters, self.unseen.loss(_core.Net(self.shape, parameters), n_threads)


@dataclass(eq=False)
class EpochChoice:
    """Nets after the best epoch.

    Attributes
    ----------
    n_epochs : int
        Its number, from one; 0 if no loss was finite.
    losses : list of float
        Mean loss on unseen rows after each epoch that was run.
    parameters : list of ndarray
        Of each net.
    """

    n_epochs: int = 0
    losses: list[float] = field(default_factory=list)
    parameters: list[Parameters] = field(default_factory=list)


def run_epochs(
    runs: Sequence[NetRun],
    max_epochs: int,
    patience: int,
    progress: Progress,
    n_threads: int,
    may_go_on: Callable[[int], bool] = lambda n_epochs: True,
) -> EpochChoice:
    """Run epochs of all nets until their mean loss has not fallen for some.

    Parameters
    ----------
    runs : sequence of NetRun
        The nets. Without unseen rows they run all epochs.
    max_epochs : int
        The most epochs.
    patience : int
        Epochs without a lower loss that end it.
    progress : Progress
        Shows how far it is.
    n_threads : int
        Threads: several nets run side by side, a single one uses all.
    may_go_on : callable
        Called with the number of epochs so far; False ends it.

    Returns
    -------
    choice : EpochChoice
        The nets after the best epoch.
    """
    choice = EpochChoice()
    n_workers = min(n_threads, len(runs))
    own_threads = n_threads if len(runs) == 1 else 1
    totals = [1.0 if run.unseen is None else run.unseen.total for run in runs]
    least = math.inf
    for number in range(1, max_epochs + 1):
        calls = [(run, own_threads) for run in runs]
        done: list[Any] = list(
            in_order(NetRun.advance, calls, n_workers, use_threads=True, own=True)
        )
        parts = [total * loss for total, (_, loss) in zip(totals, done, strict=True)]
        # One infinite loss is enough; without unseen rows it is NaN.
        loss = sum(parts) if not np.isfinite(parts).all() else math.fsum(parts) / math.fsum(totals)
        choice.losses.append(loss)
        progress.advance()
        if runs[0].unseen is None or loss < least:
            least = loss
            choice.n_epochs = number
            choice.parameters = [parameters for parameters, _ in done]
        elif number - choice.n_epochs >= patience:
            break
        if not may_go_on(number):
            break
    return choice

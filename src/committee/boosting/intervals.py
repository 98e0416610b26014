"""Intervals of boosting: what errors on rows that no tree has learned from say about new rows.

These are the rows that choose the number of rounds, in turns held out of the fits of the folds, or
validation rows. A new row is as likely as any of them to have the k-th largest error, whatever the
model is worth: that is split-conformal prediction. The models of the folds learn from less rows
than the model that predicts, so its errors are rather smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committee.base.arrays import Floats
from committee.evaluation.early_stopping import Watch
from committee.evaluation.error_sketch import ErrorSketch
from committee.files.codec_classes import register
from committee.files.parts import Part, instance, list_of
from committee.losses.arithmetic import LARGEST
from committee.losses.loss import Loss


@register("HeldOutErrors")
@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """How far predictions of held-out rows were off.

    Parameters
    ----------
    sketches : list of ErrorSketch
        The errors of each output, divided by what the loss expects of them. For several quantiles
        of one output: by how much the target lay outside of the lowest and the highest.
    """

    sketches: list[ErrorSketch]

    _stored_parts: ClassVar[dict[str, Part]] = {
        "sketches": list_of(instance(ErrorSketch), "outputs", least=1),
    }

    @classmethod
    def of(cls, watches: Sequence[Watch], scores: Sequence[Floats]) -> HeldOutErrors:
        """Compare predictions of held-out rows with the truth.

        Parameters
        ----------
        watches : sequence of Watch
            The rows, of one fold after the other.
        scores : sequence of ndarray of float64
            Their scores, by a model that has not learned from them.
        """
        loss = watches[0].objective.losses[0]
        pairs = zip(watches, scores, strict=True)
        predicted = np.concatenate([_columns(watch.objective.predictions(s)) for watch, s in pairs])
        truth = np.concatenate([watch.target.table for watch in watches])
        weights = np.concatenate([_weights(watch) for watch in watches])
        counted = weights > 0
        predicted, truth, weights = predicted[counted], truth[counted], weights[counted]
        if loss.n_scores > 1:
            outside = np.maximum(predicted[:, 0] - truth[:, 0], truth[:, 0] - predicted[:, -1])
            errors = outside[:, np.newaxis]
        else:
            with np.errstate(over="ignore"):
                errors = (truth - predicted) / loss.spread(predicted)
        errors = np.clip(errors, -LARGEST, LARGEST)
        return cls([ErrorSketch.of(column, weights) for column in errors.T])

    def bounds(self, loss: Loss, predictions: Floats, coverage: float) -> Floats:
        """Return the bounds of rows, n_rows x n_outputs x 2.

        Parameters
        ----------
        loss : Loss
            The loss of the fit.
        predictions : ndarray of float64
            Of the rows.
        coverage : float
            In (0, 1).
        """
        predicted = _columns(predictions)
        if loss.n_scores > 1:
            wider = self.sketches[0].upper(coverage)
            ends = np.column_stack([predicted[:, 0] - wider, predicted[:, -1] + wider])
            # Narrowed intervals may cross where they were very short.
            middle = predicted[:, [0, -1]].mean(axis=1)
            low, high = np.minimum(ends[:, 0], middle), np.maximum(ends[:, 1], middle)
            return np.column_stack([low, high])[:, np.newaxis]
        spread = loss.spread(predicted)
        bounds = np.empty((*predicted.shape, 2))
        for output, sketch in enumerate(self.sketches):
            limits = np.array(sketch.limits(coverage))
            bounds[:, output] = predicted[:, [output]] + limits * spread[:, [output]]
        return np.maximum(bounds, loss.least_prediction)


def _columns(predictions: Floats) -> Floats:
    return predictions[:, np.newaxis] if predictions.ndim == 1 else predictions


def _weights(watch: Watch) -> Floats:
    weights = watch.target.weights
    return np.ones(watch.target.n_rows) if weights is None else weights

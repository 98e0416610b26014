"""Predictions of several members together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from committee.auto.given import native_table
from committee.auto.portfolio import FEATURES, MATRIX, TABLE
from committee.auto.selection import Selection
from committee.base.arrays import Floats
from committee.tables.native_table import AnyTable


def predict_values(fitted: Mapping[str, Any], members: Sequence[Any], source: Any) -> Floats:
    """Return what the members of a committee, or their models of one fold, predict together.

    Parameters
    ----------
    fitted : mapping
        The fitted attributes of the committee.
    members : sequence
        As many models as it has members.
    source : AnyTable or Source
        Rows of a table with the columns of the training table.
    """
    predicted = member_values(fitted, members, source)
    return Selection(fitted["weights_"], fitted["_temperature"]).combine(predicted)


def member_values(fitted: Mapping[str, Any], members: Sequence[Any], source: Any) -> Floats:
    """Return what each member predicts, of shape (n_members, n_rows, n_values); see above."""
    table = source if isinstance(source, AnyTable) else AnyTable(source, may_be_empty=True)
    features = fitted["_reader"].read(table.opened())
    views: dict[str, Any] = {FEATURES: features}
    if TABLE in fitted["_reads"]:
        views[TABLE] = native_table(table).native
    if MATRIX in fitted["_reads"]:
        views[MATRIX] = fitted["_encoder"].apply(features)
    parts = zip(members, fitted["_outputs"], fitted["_reads"], strict=True)
    return np.stack([output.predict(member, views[reads]) for member, output, reads in parts])

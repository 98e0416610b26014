"""Whether fitted ensembles can be joined: the same columns, read in the same way, and target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from committee.tables.table import TableSchema


def check_alike(ensembles: Sequence[Any]) -> None:
    """Raise ValueError unless fitted ensembles have the same columns and predict the same."""
    first = ensembles[0]
    for other in ensembles[1:]:
        for name in ("n_features_in_", "feature_names_in_", "classes_", "n_classes_", "n_outputs_"):
            one, two = getattr(first, name, None), getattr(other, name, None)
            if not _is_equal(one, two):
                raise ValueError(
                    "ensembles that are joined must have the same columns and classes; "
                    f"{name} is {_shown(one)} in one and {_shown(two)} in another"
                )


def common_schema(schemas: Sequence[TableSchema]) -> TableSchema:
    """Return how joined ensembles read tables; ValueError if they do so in different ways."""
    features = list(schemas[0].features)
    for schema in schemas[1:]:
        for place, (one, two) in enumerate(zip(features, schema.features, strict=True)):
            has_missing = one.has_missing or two.has_missing
            features[place] = replace(one, has_missing=has_missing)
            if replace(two, has_missing=has_missing) != features[place]:
                raise ValueError(
                    f"ensembles that are joined must read column {one.name!r} in the same way; it "
                    f"is {one.label} in one and {two.label} in another, or has other levels. Fit "
                    "them to columns with the same types and levels, such as pandas categories"
                )
    return replace(schemas[0], features=tuple(features))


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(np.array_equal, a, b))
    return bool(np.array_equal(a, b))


def _shown(value: Any) -> str:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    return repr(values[:5] if isinstance(values, list) else values)

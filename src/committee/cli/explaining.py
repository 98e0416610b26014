"""What `committee explain` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from committee.auto.known_files import KnownTable
from committee.cli.using import load_model, write_with_kept
from committee.cli.words import importance_words
from committee.io.csv_table import CsvOptions
from committee.io.errors import listed
from committee.report.words import metric_name


def write_contributions(
    model_path: Path,
    paths: Sequence[str],
    options: CsvOptions,
    output: str,
    keep: Sequence[str],
    label: str | None,
    *,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Write what each column adds to the prediction of each row."""
    model = load_model(model_path)
    known = KnownTable.open(model, paths, options)
    explained = model.explain(known.X)
    rows = range(len(explained.contributions))
    if explained.classes is None:
        found: dict[str, Any] = {"prediction": explained.predictions}
        found["in general"] = [float(explained.base)] * len(rows)
        contributions = explained.contributions
    else:
        labels = [str(each) for each in explained.classes]
        if label is not None and label not in labels:
            raise ValueError(f"class must be one of {listed(labels)}; got {label!r}")
        best = explained.predictions.argmax(axis=1)
        places = best if label is None else [labels.index(label)] * len(rows)
        found = {
            "class": [labels[place] for place in places],
            "probability": explained.predictions[rows, places],
            "in general": explained.base[places],
        }
        contributions = explained.contributions[rows, :, places]
    used = {use.name for use in model.columns_ if use.use != "dropped"}
    for place, name in enumerate(explained.names):
        if name in used:
            found[f"by {name}"] = contributions[:, place]
    write_with_kept(known, keep, found, output, as_json=as_json, is_quiet=is_quiet)


def explain_model(model_path: Path) -> dict[str, Any]:
    """Return what became of each column, and how much it matters."""
    model = load_model(model_path)
    importances = model.importances_
    measured = {
        name: (float(mean), float(error))
        for name, mean, error in zip(
            importances.names, importances.mean, importances.standard_error, strict=True
        )
    }
    order = {name: place for place, name in enumerate(importances.ranking())}
    uses = sorted(model.columns_, key=lambda use: order.get(use.name, len(order)))
    return {
        "metric": model.leaderboard_.metric,
        "columns": [
            {
                "name": use.name,
                "importance": measured.get(use.name, (None, None))[0],
                "standard_error": measured.get(use.name, (None, None))[1],
                "use": use.use,
                "note": use.note,
            }
            for use in uses
        ],
    }


def explanation_words(found: dict[str, Any]) -> str:
    """Return the same in words."""
    name = metric_name(found["metric"])
    return (
        f"How much worse the {name} of unseen rows gets where the values of a column are "
        f"shuffled:\n{importance_words(found['columns'], found['metric'])}"
    )

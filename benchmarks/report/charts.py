"""The charts of docs/benchmarks.md, from results: `python -m benchmarks.report.charts`.

A chart has a panel for each of some parts of a suite, with a bar for each contestant. The figures
are kept in the file of the chart too, so that a test can compare them with the results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.parts.published import PublishedPart
from benchmarks.parts.searches import mean_ranks
from benchmarks.report.markdown import best, number
from benchmarks.report.pages import DOCS, suite_parts, suite_results

_OURS, _PEER = "#3f51b5", "#b0b4c3"


@dataclass(frozen=True, slots=True)
class Panel:
    """Seconds of a part's fits: which contestants, and how the panel is called."""

    part: str
    title: str
    keys: tuple[str, ...] = ()  # how names of contestants end; empty: all
    without: tuple[str, ...] = ()  # words of contestants that are left out


_TWO = ("2 threads",)
_SLOWER_PATHS = ("avx2", "scalar")  # ours, with the instructions of older processors
CHARTS = {
    "trees": (
        Panel("fit-100k", "Tree, 100,000 x 28"),
        Panel("fit-1m", "Tree, 1,000,000 x 28"),
    ),
    "forests": (
        Panel("forest-100k", "Random forest, 100,000 x 28", _TWO),
        Panel("extra-s", "Extra-trees, 20,000 x 20", _TWO),
        Panel("regression-20k", "Regression forest, all features, 20,000 x 28", _TWO),
    ),
    "boosting": (
        Panel("speed-s", "Log loss, 20,000 x 20", _TWO, _SLOWER_PATHS),
        Panel("speed-m", "Log loss, 100,000 x 100", _TWO, _SLOWER_PATHS),
        Panel("speed-l", "Log loss, 1,000,000 x 28", _TWO, _SLOWER_PATHS),
    ),
    "adaboost": (
        Panel("stumps-s", "200 stumps, 20,000 x 20"),
        Panel("stumps-100k", "200 stumps, 100,000 x 28"),
    ),
    "quinlan": (
        Panel("port", "Levels, 2,000 x 20"),
        Panel("published", "Error in %, ten folds, beside published rates (quoted from memory)"),
    ),
    "stacking": (
        Panel("stack-s", "Stack, 20,000 x 20"),
        Panel("small", "Stack, 569 x 30"),
    ),
    "committee": (Panel("searches", "Mean rank on real tables of the test half"),),
}


def chart_values(suite: str) -> dict[str, dict[str, float]]:
    """Return what a chart shows: the value of each bar by panel and name."""
    return {panel.title: _panel_values(suite, panel) for panel in CHARTS[suite]}


def _panel_values(suite: str, panel: Panel) -> dict[str, float]:
    result = suite_results(suite)[panel.part]["result"]
    if "errors" in result:
        return _errors(suite, panel.part, result)
    if "tables" in result:
        return mean_ranks(result)
    found = {
        key: seconds
        for key, seconds in _seconds(result).items()
        if key.endswith(panel.keys or "") and not any(word in key for word in panel.without)
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _seconds(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the best seconds of the fits of each contestant."""
    if "readings" in result:
        return {key: best(readings) for key, readings in result["readings"].items()}
    rounds = [each["fits"] for each in result["rounds"]]
    return {key: best(fits[key] for fits in rounds) for key in rounds[0]}


def _errors(suite: str, name: str, result: Mapping[str, Any]) -> dict[str, float]:
    (part,) = (part for part in suite_parts(suite) if part.name == name)
    assert isinstance(part, PublishedPart)
    values = {}
    for table, published in part.published.items():
        if published is not None and table in result["errors"]:
            values[f"committee C4.5, {table}"] = float(result["errors"][table]["committee C4.5"])
            values[f"published, {table}"] = float(published)
    return values


def draw(suite: str) -> None:
    """Draw the chart of a suite into docs/images."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    values = chart_values(suite)
    heights = [0.75 + 0.27 * len(bars) for bars in values.values()]
    figure, axes = plt.subplots(
        len(values), figsize=(8, sum(heights)), height_ratios=heights, layout="constrained"
    )
    for axis, (title, bars) in zip(np.atleast_1d(axes), values.items(), strict=True):
        colours = [_OURS if name.startswith(("committee", "our ")) else _PEER for name in bars]
        drawn = axis.barh(list(bars), list(bars.values()), color=colours)
        axis.bar_label(drawn, [number(value) for value in bars.values()], padding=3, fontsize=9)
        axis.invert_yaxis()
        axis.margins(x=0.1)
        axis.tick_params(labelsize=9)
        axis.spines[["top", "right"]].set_visible(False)
        unit = "" if title.startswith(("Error", "Mean rank")) else ": seconds to fit"
        axis.set_title(title + unit, fontsize=10, loc="left")
    path = DOCS / "images" / f"benchmark-{suite}.png"
    figure.savefig(path, dpi=110, metadata={"Description": json.dumps(values), "Software": ""})
    plt.close(figure)


if __name__ == "__main__":
    for name in CHARTS:
        if suite_results(name):
            draw(name)

"""Records an example of each of five lectures, when the site is built, as `_static/lectures.html`.

The page is that of `committee play` and needs no server; the guide shows it. By itself,

    python docs/_extensions/lectures.py lectures.html

writes it into a file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from committee.play.examples import example_points
from committee.play.recording import Recording, recorded_page

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RECORDINGS = (
    Recording(
        "bagging",
        "Bagging",
        "Twenty-one trees vote",
        "Charles University: Ensemble learning methods",
        (
            "If 21 classifiers erred independently of each other, each in 30 % of all cases, a "
            "majority of them would err in 2.6 %. Trees that learn from draws of the same points "
            "are not independent, and yet their majority errs less than they do one by one: "
            "compare this tree with all so far, on points out of bag.",
            "Step through the rounds. Large points were drawn several times, small ones not at "
            "all: (1 - 1/n)^n of them, about 37 %.",
        ),
        example_points("moons", 160, 0.2, seed=3),
        {
            "method": "bagging",
            "rounds": 21,
            "settings": {"max_depth": 6, "voting": "hard"},
            "seed": 1,
            "held_out": 0.3,
        },
        (0.05, 0.0),
    ),
    Recording(
        "ten",
        "AdaBoost",
        "Ten points, three stumps",
        "University of Oxford: Statistical Machine Learning",
        (
            "No line across or up parts the ten points. The first stump gets three of them wrong, "
            "ε = 0.30, so that its vote weighs β = 0.42. These three get larger weights, and the "
            "second stump, ε = 0.21, turns to them. After the third, ε = 0.14, all points are "
            "right.",
            "ε is 3/14 in the second round, although three points are wrong again: each of "
            "them weighs only 1/14.",
        ),
        example_points("ten"),
        {"method": "adaboost", "rounds": 3},
        (4.0, 8.0),
    ),
    Recording(
        "boosting",
        "Gradient boosting",
        "Steps along residuals",
        "University of Rome Tor Vergata: Ensemble methods",
        (
            "Each step is a small tree that is fitted to what is left to explain: the residual of "
            "a point, its size in the picture, is the negative gradient of the loss. A share of "
            "the step is added, here 0.3.",
            "“This round” shows the step alone: where it raises the probability of orange, and "
            "where it lowers it.",
        ),
        example_points("circles", 160, 0.12, seed=1),
        {"method": "boosting", "rounds": 24, "held_out": 0.3},
        (0.35, 0.35),
    ),
    Recording(
        "xor",
        "Tree",
        "Why xor is hard for a tree",
        "Université du Littoral: Apprentissage automatique avancé",
        (
            "A tree takes the split that gains most information, one at a time. On xor no first "
            "split gains much: the best one, 0.05 bits, is where chance has put it. Below it, a "
            "split through the middle gains 0.84 bits.",
            "Three splits would do for the four quarters. The greedy tree needs seven, as each "
            "split looks one step ahead and none is taken back.",
        ),
        example_points("xor", 160, 0.06, seed=2),
        {"method": "tree", "rounds": 8, "settings": {"criterion": "entropy"}, "held_out": 0.3},
        (-0.5, 0.5),
    ),
    Recording(
        "voting",
        "Soft voting",
        "Three models vote with weights",
        "Sharif University of Technology: ML models for tabular datasets",
        (
            "The probabilities of three models are averaged with the weights 0.2, 0.3 and 0.5. "
            "In the lecture they are 0.9, 0.8 and 0.3 for class 0, so that 0.2 · 0.9 + 0.3 · 0.8 + "
            "0.5 · 0.3 = 0.57: the two lighter votes win. At the cross they are much the same.",
            "Point somewhere else to see other votes; where the models disagree, the sum decides.",
        ),
        example_points("moons", 160, 0.18, seed=5),
        {
            "method": "voting",
            "settings": {
                "members": ["tree", "neighbors", "bayes"],
                "weights": {"tree": 0.2, "neighbors": 0.3, "bayes": 0.5},
            },
            "held_out": 0.3,
        },
        (0.35, 0.1),
    ),
)


def page() -> str:
    """Return the page with all runs."""
    return recorded_page([each.to_json() for each in RECORDINGS])


def _write(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / "lectures.html").write_text(page(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page beside the other files of the site."""
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")

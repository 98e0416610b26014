"""The sections on how to use the committee, and its card: what it is, and when to be careful."""

from __future__ import annotations

from typing import Any

from committee.report.html import Html, folded, join, paragraph, table, tag
from committee.report.verdict import ends
from committee.report.words import capital, count, cut, metric_name, number, shown


def use(model: Any) -> Html:
    """Return calls and commands for predictions."""
    is_classes = len(model.findings_.shares) > 0
    call = "predict_proba(table)  # a column for each class" if is_classes else "predict(table)"
    python = (
        'import committee\n\nmodel = committee.load("model.committee")  # after committee.save\n'
        f"predictions = model.{call}"
    )
    shell = (
        "committee predict model.committee new.csv --out predictions.csv\n"
        "committee evaluate model.committee later.csv --target "
        f"{_target(model) or 'target'}"
    )
    return join(
        [
            tag("h3", "In Python"),
            tag("pre", python),
            _decision(model),
            tag("h3", "In the shell"),
            tag("pre", shell),
            _needed(model),
        ]
    )


def _decision(model: Any) -> Html | None:
    """Return how a class is made of probabilities, where that is not the most probable one."""
    decision = getattr(model, "decision_", None)
    return None if decision is None else paragraph(f"predict gives: {decision}.")


def _target(model: Any) -> str | None:
    target = getattr(model, "target_name_", None)
    return None if target is None else str(target)


def _needed(model: Any) -> Html:
    needed = [each for each in model.columns_ if each.use != "dropped"]
    rows = [[cut(each.name, 60), each.kind] for each in needed[:200]]
    more = f" (the first 200 of {len(needed):,})" if len(needed) > 200 else ""
    listing = table(["column", "kind"], rows, caption=f"Columns that are used{more}", wide=True)
    text = (
        "A table to predict needs the columns of the training table, by name and in any order. "
        "Levels that training has not seen, and missing values, are predicted too."
    )
    return join([paragraph(text), folded(count(len(needed), "column"), listing)])


def card(model: Any) -> Html:
    """Return the model card."""
    found, metric = model.findings_, model.leaderboard_.metric
    low, high = ends(model)
    is_classes = len(found.shares) > 0
    target = _target(model)
    kind = f"classes ({len(found.shares)})" if is_classes else "numbers"
    score = f"{capital(metric_name(metric))} {number(shown(model.score_.score, metric))}"
    facts = [
        ("Kind", f"{type(model).__name__}, a weighted mean of {len(model.member_names_)} members"),
        ("Members", "; ".join(model.member_names_)),
        ("Predicts", f"{target}: {kind}" if target else kind),
        ("Fitted to", f"{count(found.n_rows, 'row')}, {count(found.n_columns, 'column')}"),
        ("Expected score", f"{score}, 90 % interval {number(low)} to {number(high)}"),
        ("Fitted with", ", ".join(found.versions)),
        ("Training rows", "none are in this report nor, with our own members, in the model file"),
    ]
    parts = [tag("dl", *(join([tag("dt", name), tag("dd", text)]) for name, text in facts))]
    return join([*parts, tag("h3", "Be careful"), tag("ul", *_cautions(model, is_classes))])


def _cautions(model: Any, is_classes: bool) -> list[Html]:
    found = model.findings_
    cautions = [
        "It knows rows like those it was fitted to. Where customers, seasons, devices or the way "
        "of measuring change, scores get worse without notice: evaluate it on new rows whose "
        "truth is known, again and again.",
        "Importances and effects say what predictions rest on. They do not say what would happen "
        "if a value was changed in the world.",
        "Before it decides about people, compare its errors between the groups that matter, "
        "whether or not they are columns of the table.",
    ]
    if is_classes:
        cautions.append(
            "The most probable class is the right answer only if all mistakes cost the same; "
            "otherwise choose a threshold of the probabilities."
        )
    else:
        low, *_, high = found.quantiles.tolist()
        cautions.append(
            f"Nine in ten targets were between {number(low)} and {number(high)}. Trees do not "
            "predict beyond what they have seen."
        )
    if found.slices.weak:
        worst = found.slices.weak[0]
        cautions.append(
            f"It is weaker where {cut(worst.column)} is {cut(worst.group)} (see Errors)."
        )
    return [tag("li", each) for each in cautions]

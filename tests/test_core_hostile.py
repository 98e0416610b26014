"""Whatever a binding of the engine is given: it answers or refuses, and the process lives.

`hostile_core.py` makes the calls, in processes of their own; a refused call must have left no
traces, and some kinds of wrong arguments must never get an answer.
"""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_calls import CALLS, group_of

from committee import _core

GROUPS = list(dict.fromkeys(map(group_of, CALLS)))
REFUSALS = {"TypeError", "ValueError", "IndexError", "MemoryError"}

# What has no length that other arguments would give it.
FREE = {
    "Table.from_matrix matrix",
    "Tree arrays",  # what each array must be is tested in test_core_tree.py
    "Forest arrays",
    "Forest.predict_quantiles members",
    "Forest.predict_quantiles quantiles",
    "SamplingPlan strata",
    "SamplingPlan unit_weights",  # none is none
    "BoostedRows.reweigh factors",  # groups that no row is in
    "BoostedRows.add_votes votes",
    "ordered_means order",
    "nominal_codes cuts",
    "pairs_in_order values",
    "row_matches left",
    "row_matches right",
    "row_sums left",
    "row_sums right",
    "log_loss_shares scores",
    "minus_logs shares",
    "NetTrainer.run_epoch rows",
}


def public_names():
    """Functions, classes, and their methods and attributes."""
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        yield name
        if isinstance(value, type):
            yield from (f"{name}.{member}" for member in vars(value) if member[0] != "_")


def test_every_binding_is_called():
    assert set(public_names()) == set(CALLS)


@pytest.mark.parametrize("name", [name for name in GROUPS if name in CALLS])
def test_an_object_is_made_once(name):
    kind, arguments = CALLS[name]()
    made = kind(**arguments)

    def sizes():
        names = ("n_rows", "n_features", "n_parameters")
        return [getattr(made, size) for size in names if hasattr(made, size)]

    before = sizes()
    for others in (arguments, {"n_rows": 2**40}, {}):
        with contextlib.suppress(TypeError):
            made.__init__(**others)
    assert sizes() == before


def outcomes(group):
    """(name, label, what came of it) of all cases, also of those that ended the process."""
    script = Path(__file__).parent / "hostile_core.py"
    first, done = 0, []
    while True:
        command = [sys.executable, str(script), group, str(first)]
        run = subprocess.run(command, capture_output=True, text=True)
        lines = run.stdout.splitlines()
        for case, outcome in zip(lines[::2], lines[1::2], strict=False):
            done.append((*case.split("\t")[1:], outcome[1:]))
        if run.returncode == 0:
            return done
        assert len(lines) % 2 == 1, run.stderr  # between two cases: a fault of the script
        number, name, label = lines[-1].split("\t")
        done.append((name, label, f"ended the process: {run.returncode} {run.stderr[-500:]}"))
        first = int(number) + 1


def has_wrong_length(label):
    return label.endswith((" a row less", " a row more", " empty"))


def has_impossible_weights(name, label):
    in_place = name.endswith("_gradients")  # derivatives of impossible weights are wrong, no more
    is_weight = label.startswith(("weights ", "unit_weights "))
    return is_weight and label.endswith((" nan", " inf", " -1.0")) and not in_place


def expected(name, label):
    """What may come of a case."""
    if label == "sound":
        return {"returned"}
    if name == "pool_raise":
        return REFUSALS | {"returned", "RuntimeError"}  # that of its task
    if name == "BoostedRows.reweigh":
        return REFUSALS | {"returned", "left traces"}  # and is of no use from then on
    argument = label.split(" ")[0]
    must_fail = has_wrong_length(label) and f"{name} {argument}" not in FREE
    if must_fail or has_impossible_weights(name, label) or label.startswith("of an object"):
        return REFUSALS
    return REFUSALS | {"returned"}


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_arguments_are_refused_or_answered(group):
    found = outcomes(group)
    assert len(found) > 30
    wrong = [case for case in found if case[2].split(":")[0] not in expected(case[0], case[1])]
    assert wrong == []

"""Members fitted again, each as one model of all rows instead of one for each fold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from committee.auto.given import native_table
from committee.auto.portfolio import FEATURES, MATRIX, TABLE
from committee.base.work import limited_threads, plain_algebra, resolve_threads
from committee.boosting.fit import BoostingModel
from committee.combining.fold_mean import FoldMean
from committee.evaluation.scored_target import ScoredTarget
from committee.forests.fit import ForestModel
from committee.members.training import Task, TrainingData
from committee.nets.net_model import NetModel
from committee.tables.native_table import AnyTable


def refitted(
    fitted: Mapping[str, Any], table: AnyTable, target: ScoredTarget, n_jobs: int | None
) -> list[FoldMean]:
    """Return the members of a committee, fitted to all rows of a table.

    Parameters
    ----------
    fitted : mapping
        The fitted attributes of the committee.
    table : AnyTable
        Rows, which may be others than those of the committee.
    target : ScoredTarget
        What is predicted, in the classes of the committee.
    n_jobs : int or None
        Threads.
    """
    features = fitted["_reader"].read(table.opened())
    tables = {FEATURES: AnyTable(features)}
    if MATRIX in fitted["_reads"]:
        tables[MATRIX] = AnyTable(fitted["_encoder"].apply(features))
    if TABLE in fitted["_reads"]:
        tables[TABLE] = native_table(table)
    labels = target.classes[0] if target.classes else None
    forms = {
        form: TrainingData(each, target.table[:, 0], labels, target.weights, n_jobs)
        for form, each in tables.items()
    }
    members = []
    n_threads = resolve_threads(n_jobs)
    parts = zip(
        fitted["member_names_"],
        fitted["members_"],
        fitted["_outputs"],
        fitted["_reads"],
        strict=True,
    )
    for number, (name, member, output, reads) in enumerate(parts):
        template = forms[reads].template(name, number, unfitted(member))
        # As in the search: foreign members have all threads, our matrices one.
        is_foreign = reads == TABLE
        with limited_threads(n_threads) if is_foreign else plain_algebra(0, own=False):
            model = forms[reads].fit(Task(template, None), n_threads)
        members.append(FoldMean(output, [model]))
    return members


def unfitted(member: FoldMean) -> Any:
    """Return an estimator that learns from all rows what the models of a member did from some."""
    models = member.estimators
    estimator = clone(models[0])
    if isinstance(estimator, BoostingModel):
        return estimator.set_params(**models[0].chosen_params_, early_stopping=False)
    if isinstance(estimator, NetModel):
        return estimator.set_params(max_epochs=models[0].n_epochs_, early_stopping=False)
    if isinstance(estimator, ForestModel):
        return estimator.set_params(n_estimators=sum(model.n_trees_ for model in models))
    return estimator

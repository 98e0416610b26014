"""The theory of ensembles as plain functions: what lectures derive, beside the model at hand.

How good a majority is and how many members it takes, what correlation costs, how much of the rows a
bootstrap sample holds, what a committee gains over its members, how fast boosting lowers the
training error, stagewise fitting, and the parts of an error: bias, variance and noise. The guide
goes through them in the order of lectures.
"""

from __future__ import annotations

from committee.theory.averaging import CommitteeError, average_variance, committee_error
from committee.theory.bias_variance import (
    BiasVariance,
    BiasVarianceCurve,
    bias_variance,
    bias_variance_curve,
)
from committee.theory.bootstrap import bootstrap_inclusion
from committee.theory.bounds import BoostingBound, boosting_bound, margin_bound, rounds_needed
from committee.theory.majority import majority_error, members_needed, wrong_members
from committee.theory.margins import margins
from committee.theory.stagewise import StagewiseModel, forward_stagewise, stump_basis
from committee.theory.weak_learning import majority_table

__all__ = [
    "BiasVariance",
    "BiasVarianceCurve",
    "BoostingBound",
    "CommitteeError",
    "StagewiseModel",
    "average_variance",
    "bias_variance",
    "bias_variance_curve",
    "boosting_bound",
    "bootstrap_inclusion",
    "committee_error",
    "forward_stagewise",
    "majority_error",
    "majority_table",
    "margin_bound",
    "margins",
    "members_needed",
    "rounds_needed",
    "stump_basis",
    "wrong_members",
]

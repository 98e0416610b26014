"""What notebooks show of ensembles: scikit-learn's diagrams of their members."""

import re

import pytest
import sklearn.ensemble
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

import committee

CLASSIFIERS = [("line", LogisticRegression(C=3)), ("bayes", GaussianNB()), ("gone", "drop")]
MODELS = {
    "voting": lambda library: library.VotingClassifier(CLASSIFIERS),
    "stacking": lambda library: library.StackingClassifier(CLASSIFIERS),
    "regressors": lambda library: library.StackingRegressor([("ridge", Ridge())], Ridge(alpha=7)),
    "default": lambda library: library.StackingRegressor([("ridge", Ridge())]),
    "bagging": lambda library: library.BaggingClassifier(GaussianNB()),
    "adaboost": lambda library: library.AdaBoostClassifier(LogisticRegression()),
}


def blocks(model):
    """Return the kinds of blocks in their order, and the names of classes in the diagram."""
    html = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", model._repr_html_(), flags=re.S)
    kinds = re.findall(r'class="sk-(serial|parallel-item|parallel|item)', html)
    return kinds, re.findall(r"<label[^>]*><div><div>([^<]*)</div>", html)


@pytest.mark.parametrize("name", MODELS)
def test_members_are_shown_as_in_scikit_learn(name):
    ours, theirs = (blocks(MODELS[name](library)) for library in (committee, sklearn.ensemble))
    assert ours == theirs
    assert len(ours[0]) > 1


def test_layers_and_other_members_are_shown():
    layers = [[("late", GaussianNB())]]
    stack = committee.StackingClassifier(CLASSIFIERS, "convex", layers=layers)
    without = committee.StackingClassifier(CLASSIFIERS, "convex")
    assert len(blocks(stack)[0]) > len(blocks(without)[0])
    assert all(word in stack._repr_html_() for word in ("late", "convex", "final_estimator"))
    selection = committee.EnsembleSelectionClassifier(CLASSIFIERS)
    assert blocks(selection)[0] == blocks(committee.VotingClassifier(CLASSIFIERS))[0]

"""Joining: one ensemble of the members of several."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from committee.members.alike import check_alike


def join(*ensembles: Any) -> Any:
    """Return one ensemble of the members of several fitted ones.

    Forests and bagged ensembles predict the mean of their members, so that a forest of 300 trees
    can be grown in three parts, on three machines or on three parts of the rows.

    Parameters
    ----------
    *ensembles : estimators
        Two or more fitted forests of one class, or bagged ensembles of one class, with the same
        columns (of categories also the same levels) and the same classes.

    Returns
    -------
    ensemble : estimator
        Of the same class, with the parameters of the first. Out-of-bag results are left out: they
        are of the parts. Where members have weights, each part counts by its number of members.

    Raises
    ------
    TypeError
        For ensembles whose members do not stand side by side, such as boosting.
    ValueError
        Where columns or classes differ.

    See Also
    --------
    prune : The opposite; ``forest[:50]`` has the first 50 trees.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import RandomForestClassifier, join
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> parts = [RandomForestClassifier(50, random_state=seed).fit(X, y) for seed in (0, 1)]
    >>> forest = join(*parts)
    >>> len(forest)
    100
    >>> mean = (parts[0].predict_proba(X) + parts[1].predict_proba(X)) / 2
    >>> bool(np.allclose(forest.predict_proba(X), mean))
    True
    """
    if not ensembles:
        raise TypeError("join needs fitted ensembles; got none")
    first = ensembles[0]
    for each in ensembles:
        if not hasattr(each, "_joined"):
            raise TypeError(
                f"join is for forests and bagging, whose members stand side by side; got "
                f"{type(each).__name__}. Any fitted models vote by VotingClassifier or "
                'VotingRegressor with cv="prefit"'
            )
        if type(each) is not type(first):
            raise TypeError(
                "ensembles that are joined must be of one class; got "
                f"{type(first).__name__} and {type(each).__name__}"
            )
        check_is_fitted(each)
    check_alike(ensembles)
    return first._joined(ensembles[1:])

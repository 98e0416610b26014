r"""Where an error comes from: `bias_variance` fits an estimator to many training sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_int, check_seed, check_verbose
from committee.base.work import FitLog
from committee.members.output import first_method
from committee.theory.decomposition import SquaredTally, VoteTally, mean_over_rows
from committee.theory.repeated_fits import RepeatedFits
from committee.theory.training_sets import (
    DrawnSets,
    Draws,
    FreshSets,
    RowsToPredict,
    drawn_sets,
    fresh_sets,
)

_LOSSES = ("zero_one", "squared_error")


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance:
    """Parts of the expected loss of an estimator; see `bias_variance`.

    Attributes
    ----------
    loss : {"zero_one", "squared_error"}
        What an error is.
    error : float
        Expected loss on new rows: ``noise + bias + net_variance``. Without `truth` this is the mean
        loss over all fits and test rows.
    bias : float
        Loss of the main prediction, which is the mean of all fits or the class that most of them
        predict. For squared errors it is the square of what is called bias.
    variance : float
        Mean loss of the fits against the main prediction.
    net_variance : float
        What variance adds to the error: all of it for squared errors. With the zero-one loss it
        helps where the main prediction is wrong: `unbiased_variance` - `biased_variance`.
    unbiased_variance : float
        Share of predictions that leave a right main prediction; `variance` for squared errors.
    biased_variance : float
        Share of predictions that are right where the main prediction is wrong; 0 for squared
        errors.
    noise : float
        Squared error of the truth itself; 0 where no `truth` was given, and noise is then a part of
        the bias.
    n_rounds, n_test : int
        Fits, and test rows of positive weight.
    main : ndarray of shape (n_test_rows,), (n_test_rows, n_outputs) or (n_test_rows, n_classes)
        Main prediction of each row: a label, a number, or probabilities.
    row_bias, row_variance : ndarray of float64, shape (n_test_rows,)
        Bias and variance of each row; the figures above are their means.
    """

    loss: str
    error: float
    bias: float
    variance: float
    net_variance: float
    unbiased_variance: float
    biased_variance: float
    noise: float
    n_rounds: int
    n_test: int
    main: NDArray[Any]
    row_bias: Floats
    row_variance: Floats

    def __repr__(self) -> str:
        noise = f"noise {self.noise:.4g} + " if self.noise else ""
        text = f"BiasVariance of {self.n_rounds} fits on {self.n_test} rows: {self.loss} "
        text += f"{self.error:.4g} = {noise}bias {self.bias:.4g} + variance {self.net_variance:.4g}"
        if self.loss == "zero_one":
            text += (
                f"\n  variance {self.unbiased_variance:.4g} where the main prediction is right, "
                f"less {self.biased_variance:.4g} where it is wrong"
            )
        return text


class BiasVarianceCurve(Mapping[Any, BiasVariance]):
    """Results of several estimators on the same training sets, by their names.

    Parameters
    ----------
    results : mapping
        From names, or values of a parameter, to results.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> from committee.datasets import load_penguins
    >>> from committee.theory import bias_variance_curve
    >>> trees = {depth: DecisionTreeClassifier(max_depth=depth) for depth in (1, 3)}
    >>> found = bias_variance_curve(trees, *load_penguins("sex"), n_rounds=20, random_state=0)
    >>> list(found), found[3].bias < found[1].bias
    ([1, 3], True)
    >>> found.to_frame().columns.tolist()
    ['error', 'noise', 'bias', 'variance', 'net_variance']
    """

    def __init__(self, results: Mapping[Any, BiasVariance]) -> None:
        self._results: dict[Any, BiasVariance] = dict(results)

    def __getitem__(self, name: Any) -> BiasVariance:
        return self._results[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each estimator."""
        import pandas as pd

        names = ("error", "noise", "bias", "variance", "net_variance")
        columns = {name: [getattr(each, name) for each in self.values()] for name in names}
        return pd.DataFrame(columns, index=pd.Index(list(self), name="estimator"))

    def __repr__(self) -> str:
        width = max(len(str(name)) for name in self)
        first = next(iter(self.values()))
        parts = {first.loss: "error", "noise": "noise", "bias": "bias", "variance": "net_variance"}
        if not any(each.noise for each in self.values()):
            del parts["noise"]
        lines = [" ".join([" " * width, *(f"{title:>13}" for title in parts)])]
        for name, each in self.items():
            values = (getattr(each, part) for part in parts.values())
            lines.append(" ".join([f"{name!s:{width}}", *(f"{value:>13.4g}" for value in values)]))
        return "\n".join(lines)


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    test_size: float = 0.25,
    loss: str | None = None,
    n_rounds: int = 100,
    samples: Any = "bootstrap",
    sample_size: Any = None,
    truth: Any = None,
    ddof: int = 0,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BiasVariance:
    r"""Take an estimator's error apart into bias and variance, and noise where it is known.

    Lectures: Oxford and Sharif: "bagging lowers variance, boosting lowers bias". An estimator is
    fitted to many training sets D. The main prediction :math:`\bar f(x)` is the mean of all fits
    :math:`f_D(x)` or the class that most of them predict. For squared errors and a target t,

    .. math:: E_D\bigl[(f_D(x) - t)^2\bigr] = \bigl(\bar f(x) - t\bigr)^2
        + E_D\bigl[(f_D(x) - \bar f(x))^2\bigr]

    For the zero-one loss the parts are those of Domingos (2000): the bias of a row is 1 where the
    main prediction is wrong, and variance adds to the error where it is right, but helps where it
    is wrong:

    .. math:: P(f_D \ne t) = [\bar f \ne t] + [\bar f = t] \, P(f_D \ne \bar f)
        - [\bar f \ne t] \, P(f_D = t)

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor of scikit-learn's kind; it is copied, never fitted itself.
    X : table, or callable
        Rows to draw training sets from. A callable ``X(rng)`` returns a new table and target each
        time: fresh samples from a generator, without `y`.
    y : array-like of shape (n_rows,), or None
        Target of the rows.
    test : pair of table and target, or None, default=None
        Rows to predict, on which the error is taken apart; None holds out some of X.
    test_size : float, default=0.25
        Share of the rows that is held out without `test`.
    loss : {"zero_one", "squared_error"} or None, default=None
        None is "zero_one" for classifiers and "squared_error" for regressors. "squared_error" of a
        classifier is about its probabilities, summed over classes (Brier score).
    n_rounds : int, default=100
        Training sets.
    samples : {"bootstrap", "subsample"} or sequence of array-like of int, default="bootstrap"
        How training sets are drawn from the rows: with replacement, without it, or as given, by
        numbers of rows.
    sample_size : int, float or None, default=None
        Rows of a training set, or their share; None is as many as there are for "bootstrap", and
        half of them for "subsample".
    truth : array-like of shape (n_test_rows,) or None, default=None
        What test rows would be without noise, for squared errors: the mean of the target given x,
        for a classifier the probabilities of its classes. Bias is then measured against it, and the
        squared error of the truth itself is the noise.
    ddof : {0, 1}, default=0
        For squared errors, 1 takes off the bias what the main prediction of so few fits still
        varies by, and divides the variance by n_rounds - 1; both add up to the same. 0 is what
        mlxtend does.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Probabilities of rows to be drawn, up to a factor, and weights of test rows that are held
        out. A row of weight zero is absent.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws, and of estimators without one of their own, anew for each training set.
        Estimators with a seed vary by their rows only.
    n_jobs : int or None, default=None
        Threads for estimators of this library, processes for others; None is all cores for the
        first and one for the others. Results are the same for any number.
    verbose : int, default=0
        1 prints progress on stderr.

    Returns
    -------
    result : BiasVariance
        `error`, `bias`, `variance`, `net_variance`, `noise`, and both parts of each row.

    See Also
    --------
    bias_variance_curve : Several estimators on the same training sets.

    Notes
    -----
    Limits: with real rows the truth is not known, and noise counts as bias. Training sets drawn
    from one table have rows in common: the bootstrap shows what the estimator does with other
    weights of these rows, subsamples from a large table come near to fresh samples of their size,
    and only a generator has such. Estimators of this library share the bins of all rows in X, as
    folds do: boosting, and trees of more than 16,384 rows, may cut where a training set has no
    value, which trees of fewer rows do not. Estimators that split their rows
    themselves, as stacks do, have copies of a row in several folds of a bootstrap sample;
    "subsample" has none.

    References
    ----------
    Geman, Bienenstock and Doursat (1992), Neural networks and the bias/variance dilemma. Domingos
    (2000), A unified bias-variance decomposition for zero-one and squared loss, AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import DecisionTreeRegressor
    >>> from committee.theory import bias_variance
    >>> def draw(rng, n_rows=200):
    ...     X = rng.uniform(-2, 2, (n_rows, 1))
    ...     return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n_rows)
    >>> X, y = draw(np.random.default_rng(1), 1000)
    >>> tree, truth = DecisionTreeRegressor(), np.sin(2 * X[:, 0])
    >>> found = bias_variance(tree, draw, test=(X, y), truth=truth, n_rounds=30, random_state=0)
    >>> round(found.noise, 2), round(found.bias, 2), round(found.variance, 2)
    (0.1, 0.0, 0.09)
    >>> abs(found.error - (found.noise + found.bias + found.variance)) < 1e-12
    True
    """
    found = bias_variance_curve(
        {"estimator": estimator},
        X,
        y,
        test=test,
        test_size=test_size,
        loss=loss,
        n_rounds=n_rounds,
        samples=samples,
        sample_size=sample_size,
        truth=truth,
        ddof=ddof,
        sample_weight=sample_weight,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return found["estimator"]


def bias_variance_curve(
    estimators: Mapping[Any, Any],
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    test_size: float = 0.25,
    loss: str | None = None,
    n_rounds: int = 100,
    samples: Any = "bootstrap",
    sample_size: Any = None,
    truth: Any = None,
    ddof: int = 0,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BiasVarianceCurve:
    """Take the errors of several estimators apart, all fitted to the same training sets.

    Parameters
    ----------
    estimators : dict of estimators
        By names, or by the values of a parameter in which they differ; all classifiers, or all
        regressors.
    X, y, test, test_size, loss, n_rounds, samples, sample_size, truth, ddof
        See `bias_variance`.
    sample_weight, random_state, n_jobs, verbose
        See `bias_variance`.

    Returns
    -------
    curve : BiasVarianceCurve
        A `BiasVariance` for each name; `to_frame()` is a table of them, and `plot_bias_variance`
        draws it.

    Examples
    --------
    >>> from committee import BaggingClassifier, DecisionTreeClassifier
    >>> from committee.datasets import load_penguins
    >>> from committee.theory import bias_variance_curve
    >>> tree = DecisionTreeClassifier()
    >>> models = {"tree": tree, "30 bagged trees": BaggingClassifier(tree, 30)}
    >>> found = bias_variance_curve(models, *load_penguins("sex"), n_rounds=30, random_state=0)
    >>> found["30 bagged trees"].variance < found["tree"].variance
    True
    """
    is_of_classes = _check_estimators(estimators)
    loss = _loss_of(loss, is_of_classes)
    n_rounds = check_int("n_rounds", n_rounds, 2)
    ddof = check_int("ddof", ddof, 0, 1)
    if ddof and loss == "zero_one":
        raise ValueError('ddof must be 0 for the loss "zero_one", which has no such correction')
    seed = check_seed(random_state)
    sets: DrawnSets | FreshSets
    if callable(X):
        _check_fresh(y, test, samples, sample_size, sample_weight)
        test_rows, sets = fresh_sets(X, test, n_rounds, seed, is_of_classes=is_of_classes)
    else:
        draws = Draws(samples, sample_size, n_rounds, test_size, seed)
        test_rows, sets = drawn_sets(X, y, test, sample_weight, draws, is_of_classes=is_of_classes)
    method = "predict_proba" if is_of_classes and loss == "squared_error" else "predict"
    for name, each in estimators.items():
        first_method(repr(name), each, (method,))
    goal = _Goal.of(test_rows, loss, truth)
    tallies = {name: goal.tally() for name in estimators}
    verbose = check_verbose(verbose)
    fits = RepeatedFits(estimators, test_rows.table, method, n_jobs, seed, verbose)
    with FitLog("bias_variance") as log:
        for name, predicted in fits.run(sets):
            tallies[name].add(predicted)
        log.end("%d fits", sum(tally.n_fits for tally in tallies.values()))
    return BiasVarianceCurve({name: goal.result(tally, ddof) for name, tally in tallies.items()})


def _check_estimators(estimators: Any) -> bool:
    """Return whether the estimators are classifiers; raise unless all are, or none."""
    if not isinstance(estimators, Mapping) or not estimators:
        raise TypeError(f"estimators must be a dict of one estimator or more; got {estimators!r}")
    for name, each in estimators.items():
        if isinstance(each, type) or not (hasattr(each, "fit") and hasattr(each, "predict")):
            raise TypeError(f"{name!r} must be an estimator with fit and predict; got {each!r}")
    kinds = {bool(is_classifier(each)) for each in estimators.values()}
    if len(kinds) > 1:
        raise ValueError("estimators must be all classifiers or all regressors; got both")
    return kinds.pop()


def _loss_of(loss: Any, is_of_classes: bool) -> str:
    found = check_choice("loss", loss, _LOSSES, none=True)
    if found == "zero_one" and not is_of_classes:
        raise ValueError('loss must be "squared_error" or None for regressors; got "zero_one"')
    return found or ("zero_one" if is_of_classes else "squared_error")


def _check_fresh(y: Any, test: Any, samples: Any, sample_size: Any, sample_weight: Any) -> None:
    """Raise for arguments that have no meaning where every training set is a new table."""
    given = {"y": y, "sample_size": sample_size, "sample_weight": sample_weight}
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} must be None if X is a callable that makes training sets")
    if not isinstance(samples, str) or samples != "bootstrap":
        raise ValueError("samples must not be given if X is a callable that makes training sets")
    if test is None:
        raise ValueError("test must be given, (X_test, y_test), if X is a callable; got None")


@dataclass(frozen=True, eq=False)
class _Goal:
    """What predictions are compared with, and how.

    Parameters
    ----------
    rows : RowsToPredict
        The rows that are predicted.
    loss : {"zero_one", "squared_error"}
        What an error is.
    truth : ndarray
        Codes of classes, or columns of numbers.
    noise : float
        Squared error of the truth.
    """

    rows: RowsToPredict
    loss: str
    truth: NDArray[Any]
    noise: float

    @classmethod
    def of(cls, rows: RowsToPredict, loss: str, truth: Any) -> _Goal:
        """Make one, with the truth that a user knows or None."""
        target = rows.target
        if loss == "zero_one":
            if truth is not None:
                raise ValueError(
                    "truth must be None for the zero-one loss, whose noise is no part that adds "
                    "up; give the likeliest classes as the target of test to leave noise out"
                )
            return cls(rows, loss, target.values, 0.0)
        observed = target.columns
        if target.labels is not None:
            observed = np.eye(len(target.labels))[target.values]
        if truth is None:
            return cls(rows, loss, observed, 0.0)
        known = np.asarray(truth, np.float64)
        known = known.reshape(len(known), -1) if known.ndim else known
        if known.shape != observed.shape or not np.isfinite(known).all():
            raise ValueError(
                f"truth must hold finite numbers in the shape {observed.shape}; got {known.shape}"
            )
        noise = mean_over_rows(((observed - known) ** 2).sum(axis=1), rows.weights)
        return cls(rows, loss, known, noise)

    def tally(self) -> SquaredTally | VoteTally:
        """Return what adds up the predictions of an estimator."""
        if self.loss == "squared_error":
            return SquaredTally(self.truth)
        assert self.rows.target.labels is not None
        return VoteTally(self.truth, len(self.rows.target.labels))

    def result(self, tally: SquaredTally | VoteTally, ddof: int) -> BiasVariance:
        """Return the parts of the error, means over the rows."""
        parts, weights = tally.parts(ddof), self.rows.weights
        bias, variance, net, helping = (
            mean_over_rows(values, weights)
            for values in (
                parts.bias,
                parts.variance,
                parts.net_variance,
                parts.biased_variance,
            )
        )
        main: NDArray[Any] = parts.main
        if self.loss == "zero_one":
            assert self.rows.target.labels is not None
            main = self.rows.target.labels[main]
        elif main.shape[1] == 1:
            main = main[:, 0]
        return BiasVariance(
            self.loss,
            self.noise + bias + net,
            bias,
            variance,
            net,
            net + helping,
            helping,
            self.noise,
            tally.n_fits,
            self.rows.table.n_rows if weights is None else int((weights > 0).sum()),
            main,
            parts.bias,
            parts.variance,
        )

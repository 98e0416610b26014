"""The base class of estimators, and checks of their parameters in one message style.

Every message reads "<name> must be <what is accepted>; got <what was given>". A value of the wrong
type is a TypeError, a value out of range a ValueError. Booleans are no integers, NaN is no number,
and NumPy's scalars are as good as Python's. Checks return plain Python values.
"""

import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from inspect import getattr_static, isfunction
from typing import Any, ClassVar, Self, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

# Public methods that do not read what was fitted, or that change it.
_NOT_READING = ("_", "fit", "improve", "refit", "set_", "get_params", "get_metadata_routing")


class Estimator(BaseEstimator):
    """scikit-learn's base class, with a fitted state that is replaced as a whole.

    One thread may fit an estimator again while others predict with it. `_replace_fitted` sets all
    fitted attributes in one assignment, and each public method reads the attributes of one fit:
    those that were set when it was called.
    """

    # The attribute that every fit sets, by which a fitted estimator is known.
    _fitted_attribute: ClassVar[str] = "estimators_"
    # What model files leave out: which attributes the last fit has set.
    _unstored_attributes: ClassVar[tuple[str, ...]] = ("_names_of_fit",)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in dir(cls):
            method = getattr_static(cls, name)
            if not name.startswith(_NOT_READING) and isfunction(method):
                setattr(cls, name, reads_one_fit(method))

    @classmethod
    @cache  # an ensemble copies its template for each member; looking them up takes longest
    def _get_param_names(cls) -> list[str]:
        names: list[str] = super()._get_param_names()
        return names

    def _replace_fitted(self, attributes: dict[str, Any]) -> None:
        """Replace all fitted attributes by these in one assignment, when nothing can fail any more.

        Attributes of an earlier fit are removed; those that a derived class has set stay.
        """
        stale = self.__dict__.get("_names_of_fit", ())
        kept = {name: value for name, value in self.__dict__.items() if name not in stale}
        self.__dict__ = kept | attributes | {"_names_of_fit": tuple(attributes)}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._fitted_attribute)

    def _check_fitted(self) -> None:
        """Raise if `fit` has not been called; to `hasattr`, what is fitted is absent then."""
        if not hasattr(self, self._fitted_attribute):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def _as_now(self) -> Self:
        """Return the estimator as it is now: a later fit does not change what is returned."""
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__  # no copy: a fit makes a new one
        return view


def reads_one_fit(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method read the attributes of one fit, whatever other threads do meanwhile."""
    if hasattr(method, "_reads_one_fit"):
        return method

    @wraps(method)
    def of_one_fit(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return method(self._as_now(), *args, **kwargs)

    of_one_fit._reads_one_fit = True  # type: ignore[attr-defined]
    return of_one_fit


def _fail(name: str, accepted: str, value: Any, wrong_type: bool) -> Exception:
    kind = TypeError if wrong_type else ValueError
    return kind(f"{name} must be {accepted}; got {value!r}")


@contextmanager
def or_auto() -> Iterator[None]:
    """Name "auto" among what is accepted in the messages of checks.

    Examples
    --------
    >>> with or_auto():
    ...     check_int("n_estimators", 0, 1)
    Traceback (most recent call last):
    ValueError: n_estimators must be an int >= 1 or "auto"; got 0
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("; got", ' or "auto"; got', 1)) from None


def is_int(value: Any) -> bool:
    """Whether the value is an integer and no boolean."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: Any) -> bool:
    """Whether the value is a real number (an integer is one) and no boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def is_false(value: Any) -> bool:
    """Whether the value is False, of Python or of NumPy; 0 is a number.

    Examples
    --------
    >>> is_false(np.False_), is_false(0)
    (True, False)
    """
    return isinstance(value, bool | np.bool_) and not value


def is_true(value: Any) -> bool:
    """Whether the value is True, of Python or of NumPy; 1 is a number."""
    return isinstance(value, bool | np.bool_) and bool(value)


def check_bool(name: str, value: Any) -> bool:
    """Check a switch.

    Examples
    --------
    >>> check_bool("bootstrap", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise _fail(name, "True or False", value, wrong_type=True)
    return bool(value)


def check_verbose(value: Any) -> int:
    """Check `verbose`: False and True are 0 and 1.

    Examples
    --------
    >>> check_verbose(True), check_verbose(2)
    (1, 2)
    """
    return check_int("verbose", int(value) if isinstance(value, bool | np.bool_) else value, 0)


@overload
def check_int(name: str, value: Any, low: int, high: int | None = None) -> int: ...


@overload
def check_int(
    name: str, value: Any, low: int, high: int | None = None, *, none: bool
) -> int | None: ...


def check_int(
    name: str, value: Any, low: int, high: int | None = None, *, none: bool = False
) -> int | None:
    """Check an integer in [low, high]; with `none`, None is accepted as well.

    Examples
    --------
    >>> check_int("max_depth", 3, 1, none=True)
    3
    """
    if value is None and none:
        return None
    accepted = f"an int >= {low}" if high is None else f"an int in [{low}, {high}]"
    accepted += " or None" if none else ""
    if not is_int(value):
        raise _fail(name, accepted, value, wrong_type=True)
    if value < low or (high is not None and value > high):
        raise _fail(name, accepted, value, wrong_type=False)
    return int(value)


@overload
def check_real(
    name: str,
    value: Any,
    low: float = ...,
    high: float = ...,
    *,
    include_low: bool = ...,
    include_high: bool = ...,
) -> float: ...


@overload
def check_real(
    name: str,
    value: Any,
    low: float = ...,
    high: float = ...,
    *,
    include_low: bool = ...,
    include_high: bool = ...,
    none: bool,
) -> float | None: ...


def check_real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    include_low: bool = True,
    include_high: bool = True,
    none: bool = False,
) -> float | None:
    """Check a finite number between `low` and `high`; with `none`, None is accepted as well.

    Examples
    --------
    >>> check_real("learning_rate", 1, 0.0, include_low=False)
    1.0
    """
    if value is None and none:
        return None
    accepted = _interval(low, high, include_low, include_high) + (" or None" if none else "")
    if not is_real(value):
        raise _fail(name, accepted, value, wrong_type=True)
    too_low = value < low or (value == low and not include_low)
    too_high = value > high or (value == high and not include_high)
    if not math.isfinite(value) or too_low or too_high:
        raise _fail(name, accepted, value, wrong_type=False)
    return float(value)


def _interval(low: float, high: float, include_low: bool, include_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "a finite number"
    if high == math.inf:
        return f"a finite number {'>=' if include_low else '>'} {low:g}"
    if low == -math.inf:
        return f"a finite number {'<=' if include_high else '<'} {high:g}"
    left, right = "[" if include_low else "(", "]" if include_high else ")"
    return f"a number in {left}{low:g}, {high:g}{right}"


@overload
def check_choice(name: str, value: Any, choices: Sequence[str]) -> str: ...


@overload
def check_choice(name: str, value: Any, choices: Sequence[str], *, none: bool) -> str | None: ...


def check_choice(
    name: str, value: Any, choices: Sequence[str], *, none: bool = False
) -> str | None:
    """Check one of a few words; with `none`, None is accepted as well.

    Examples
    --------
    >>> check_choice("splitter", "best", ("best", "random"))
    'best'
    """
    if value is None and none:
        return None
    if isinstance(value, str) and value in choices:
        return str(value)
    quoted = [f'"{choice}"' for choice in choices] + (["None"] if none else [])
    accepted = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    raise _fail(name, accepted, value, wrong_type=not isinstance(value, str))


@overload
def check_int_or_fraction(
    name: str, value: Any, n: int, low: int = 1, *, include_one: bool = True
) -> int: ...


@overload
def check_int_or_fraction(
    name: str, value: Any, n: int, low: int = 1, *, include_one: bool = True, none: bool
) -> int | None: ...


def check_int_or_fraction(
    name: str, value: Any, n: int, low: int = 1, *, include_one: bool = True, none: bool = False
) -> int | None:
    """Check a count given as such (int) or as a fraction of `n` (float), and return the count.

    A fraction means ``ceil(fraction * n)``, at least `low`, as in scikit-learn's
    ``min_samples_leaf``. A count may be larger than `n`.

    Parameters
    ----------
    name : str
        The parameter, for messages.
    value : int or float
        A count of at least `low`, or a fraction in (0, 1].
    n : int
        What a fraction refers to.
    low : int, default=1
        The smallest count.
    include_one : bool, default=True
        Whether the fraction 1.0 is accepted.
    none : bool, default=False
        Whether None is accepted.

    Returns
    -------
    count : int or None
        At least `low`.

    Examples
    --------
    >>> check_int_or_fraction("min_samples_leaf", 0.1, n=25)
    3
    """
    if value is None and none:
        return None
    accepted = f"an int >= {low} or a float in (0, 1{']' if include_one else ')'}"
    accepted += " or None" if none else ""
    if not is_real(value):
        raise _fail(name, accepted, value, wrong_type=True)
    if is_int(value):
        if value < low:
            raise _fail(name, accepted, value, wrong_type=False)
        return int(value)
    if not 0 < value <= 1 or (value == 1 and not include_one):
        raise _fail(name, accepted, value, wrong_type=False)
    return max(low, math.ceil(float(value) * n))


def check_max_features(value: Any, n_features: int, name: str = "max_features") -> int:
    """Return the number of features to look at, of `n_features`.

    Parameters
    ----------
    value : {"sqrt", "log2", "log2+1"}, int, float or None
        "log2+1" is Breiman's ``floor(log2(n_features) + 1)``. A float is a fraction, rounded down
        but at least one feature. None means all of them, and so does an int above their number.
    n_features : int
        How many there are.
    name : str, default="max_features"
        The parameter, for messages.

    Returns
    -------
    count : int
        In [1, n_features].

    Examples
    --------
    >>> check_max_features("sqrt", 30)
    5
    """
    accepted = 'None, "sqrt", "log2", "log2+1", an int >= 1 or a float in (0, 1]'
    if value is None:
        return n_features
    if isinstance(value, str):
        counts = {
            "sqrt": math.isqrt(n_features),
            # bit_length is floor(log2) + 1, without rounding.
            "log2": n_features.bit_length() - 1,
            "log2+1": n_features.bit_length(),
        }
        if value not in counts:
            raise _fail(name, accepted, value, wrong_type=False)
        return min(n_features, max(1, counts[value]))
    if is_int(value):
        if value < 1:
            raise _fail(name, accepted, value, wrong_type=False)
        return min(int(value), n_features)
    if not is_real(value):
        raise _fail(name, accepted, value, wrong_type=True)
    if not 0 < value <= 1:
        raise _fail(name, accepted, value, wrong_type=False)
    return max(1, int(float(value) * n_features))


def check_monotonic_cst(
    value: Any, n_features: int, names: Sequence[str] | None = None, name: str = "monotonic_cst"
) -> list[int] | None:
    """Check how predictions may follow each feature: -1 falling, 1 rising, 0 freely.

    Parameters
    ----------
    value : array-like, dict or None
        One of -1, 0, 1 for each feature, or a dict from feature names to these, 0 for the others.
    n_features : int
        Number of features.
    names : sequence of str or None
        The feature names, which a dict needs.
    name : str, default="monotonic_cst"
        The parameter, for messages.

    Returns
    -------
    directions : list of int or None
        None if there is no constraint.

    Examples
    --------
    >>> check_monotonic_cst({"age": 1}, 2, names=("height", "age"))
    [0, 1]
    """
    if value is None:
        return None
    accepted = f"None, {n_features} numbers of -1, 0 or 1 (one a feature), or a dict by names"
    if isinstance(value, dict):
        if names is None:
            raise ValueError(f"{name} is a dict by names, but X has no feature names")
        unknown = [key for key in value if key not in names]
        if unknown:
            raise ValueError(f"{name} names {unknown}, which are no features of X")
        directions = [value.get(feature, 0) for feature in names]
    elif isinstance(value, str) or not hasattr(value, "__iter__"):
        raise _fail(name, accepted, value, wrong_type=True)
    else:
        directions = list(value)
    if len(directions) != n_features:
        raise ValueError(f"{name} must be {accepted}; got {len(directions)} numbers")
    for direction in directions:
        if not is_real(direction) or direction not in (-1, 0, 1):
            raise ValueError(f"{name} must be {accepted}; it holds {direction!r}")
    return [int(direction) for direction in directions] if any(directions) else None


def check_seed(random_state: Any, name: str = "random_state") -> int:
    """Make a 64-bit seed for the engine from scikit-learn's `random_state`.

    Parameters
    ----------
    random_state : None, int, numpy.random.RandomState or numpy.random.Generator
        None draws a fresh seed; an int is the seed (so equal ints give equal models); a generator
        draws one, and moves on.
    name : str, default="random_state"
        The parameter, for messages.

    Returns
    -------
    seed : int
        In [0, 2**64).

    Examples
    --------
    >>> check_seed(42)
    42
    """
    accepted = "None, an int in [0, 2**64 - 1], a numpy RandomState or a numpy Generator"
    if random_state is None or random_state is np.random:
        # NumPy's global state, so that numpy.random.seed makes a program repeatable.
        random_state = np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**64, dtype=np.uint64))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    if not is_int(random_state):
        raise _fail(name, accepted, random_state, wrong_type=True)
    if not 0 <= random_state < 2**64:
        raise _fail(name, accepted, random_state, wrong_type=False)
    return int(random_state)

"""What tests of model files share."""

import decimal
import json

import numpy as np
from sklearn.base import BaseEstimator

from committee.files.codec import decode, encode


def through(obj):
    """Return an object after a way through JSON and arrays."""
    value, arrays = encode(obj)
    return decode(json.loads(json.dumps(value, allow_nan=False)), arrays)


def identical(a, b):
    """Same types, same structure, same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and a.dtype == object:
        return a.shape == b.shape and identical(a.ravel().tolist(), b.ravel().tolist())
    if isinstance(a, np.ndarray | np.generic):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict):
        return identical(list(a.items()), list(b.items()))
    if isinstance(a, float | decimal.Decimal):
        return repr(a) == repr(b)
    if isinstance(a, BaseEstimator):
        return identical(vars(a), vars(b))
    return a == b

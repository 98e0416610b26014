"""Objects to JSON and arrays, and back: what `header.json` of a model file contains.

A JSON value stands for itself (null, true, 5, 0.5, "text", [...]), except that an object always
has exactly one member, whose name is a *tag* and whose value is the payload: {"tuple": [1, 2]}.
Arrays go to a list on the side and appear as {"array": 3}. docs/model-file.md lists the tags.

Only what is known can be read: classes come from a registry, never from a module that the file
names, and no code of the file is ever run.
"""

from __future__ import annotations

import json
import re
from collections import UserList
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.files.archive import BadContent, portable_array
from committee.files.codec_classes import (
    build,
    check_declared,
    enum_class,
    field_names,
    fitted_attributes,
    is_estimator,
    is_shared,
    may_be_attribute,
    optional_fields,
    parameter_names,
    python_name,
    register,
    storable_class,
    stored_names,
    stored_params,
    tag_of,
    validated,
)
from committee.files.codec_values import (
    SIMPLE_READERS,
    SIMPLE_WRITERS,
    cannot_store,
    encode_dtype,
    encode_float,
    encode_generator,
    encode_int,
    encode_scalar,
    encode_text,
    expect,
    members_of,
)
from committee.files.sklearn_classes import refused
from committee.files.tree_arrays import (
    forest_from_arrays,
    is_forest,
    is_tree,
    stored_forest_arrays,
    stored_tree_arrays,
    tree_from_arrays,
)

__all__ = ["MAX_DEPTH", "decode", "encode", "register"]

Array = npt.NDArray[Any]

# Deep enough for any stack of estimators; both sides stay far from Python's recursion limit.
MAX_DEPTH = 64
_MOST_REPEATED = 2**26  # lists and objects in all records that are repeated


def encode(obj: Any) -> tuple[Any, list[Array]]:
    """Turn an object into a JSON value and the arrays it refers to.

    Raises TypeError, with the place in the object, for what cannot be stored.

    Examples
    --------
    >>> encode({"a": (1, 2.5)})
    ({'dict': [['a', {'tuple': [1, 2.5]}]]}, [])
    """
    encoder = _Encoder()
    return encoder.encode(obj, type(obj).__name__, 0), encoder.arrays


def decode(value: Any, arrays: Sequence[Array]) -> Any:
    """Build the object that `encode` took apart, using each array once.

    Raises BadContent, a ValueError, for anything that `encode` does not write.

    Examples
    --------
    >>> decode({"dict": [["a", {"tuple": [1, 2.5]}]]}, [])
    {'a': (1, 2.5)}
    """
    decoder = _Decoder(arrays)
    obj = decoder.decode(value, 0)
    if decoder.unused:
        raise BadContent(f"it has {len(decoder.unused)} arrays that nothing refers to")
    return obj


class _Encoder:
    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._shared: dict[str, int] = {}  # records that may come again, by their JSON
        self._seen: dict[int, tuple[int, Any]] = {}  # and by their ids, with the records
        self._open: set[int] = set()  # ids of the containers around the current object

    def encode(self, obj: Any, path: str, depth: int) -> Any:
        kind = type(obj)
        if obj is None or kind is bool:
            return obj
        if kind is str:
            return encode_text(obj)
        if kind is float:
            return encode_float(obj)
        if kind is int:
            return encode_int(obj)
        if kind in SIMPLE_WRITERS:
            tag, write = SIMPLE_WRITERS[kind]
            return {tag: write(obj, path)}
        if isinstance(obj, np.generic):
            return {"scalar": encode_scalar(obj, path)}
        if isinstance(obj, np.dtype):
            return {"dtype": encode_dtype(obj, path)}
        return self._encode_container(obj, path, depth + 1)

    def _encode_container(self, obj: Any, path: str, depth: int) -> Any:
        if id(obj) in self._open:
            raise TypeError(f"{path}: cannot be stored: it contains itself")
        if depth > MAX_DEPTH:
            raise TypeError(f"{path}: cannot be stored: more than {MAX_DEPTH} levels deep")
        self._open.add(id(obj))
        try:
            return self._encode_parts(obj, path, depth)
        finally:
            self._open.discard(id(obj))

    def _encode_parts(self, obj: Any, path: str, depth: int) -> Any:
        kind = type(obj)
        if kind is list or isinstance(obj, UserList):  # scikit-learn has lists that warn
            return self._items(list(obj), path, depth)
        if kind is tuple:
            return {"tuple": self._items(obj, path, depth)}
        if kind is dict:
            pairs = [
                [
                    self.encode(key, f"a key of {path}", depth),
                    self.encode(item, f"{path}[{_key_label(key)}]", depth),
                ]
                for key, item in obj.items()
            ]
            return {"dict": pairs}
        if kind is np.ndarray or kind is np.memmap:
            return self._encode_array(obj, path, depth)
        if kind is np.random.RandomState:
            return {"random_state": self._encode_random_state(obj, path)}
        if kind is np.random.Generator:
            return {"generator": encode_generator(obj, path)}
        if is_tree(obj):
            return {"tree": self._encode_tree(obj, path)}
        if is_forest(obj):
            return {"forest": self._add_arrays(stored_forest_arrays(obj), path)}
        tag = tag_of(kind)
        if tag is None:
            raise cannot_store(obj, path, reason=refused(obj))
        if enum_class(tag) is kind:
            return {tag: int(obj)}
        if is_estimator(kind):
            return {"estimator": {"class": tag} | self._encode_estimator(obj, path, depth)}
        if id(obj) in self._seen:
            return {"same": self._seen[id(obj)][0]}
        fields = {name: getattr(obj, name) for name in field_names(kind) or ()}
        for name, default in optional_fields(kind).items():
            if fields[name] == default:
                del fields[name]
        record = {"record": {"class": tag, "fields": self._named(kind, fields, path, depth)}}
        return self._once(obj, record) if is_shared(kind) else record

    def _once(self, obj: Any, record: Any) -> Any:
        """Return a record the first time, and where it stands each time that it comes again."""
        text, n_before = json.dumps(record), len(self._shared)
        number = self._shared.setdefault(text, n_before)
        self._seen[id(obj)] = number, obj
        return record if number == n_before else {"same": number}

    def _items(self, items: Sequence[Any], path: str, depth: int) -> list[Any]:
        return [self.encode(item, f"{path}[{index}]", depth) for index, item in enumerate(items)]

    def _members(self, members: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
        return {name: self.encode(obj, f"{path}.{name}", depth) for name, obj in members.items()}

    def _named(
        self, cls: type, members: Mapping[str, Any], path: str, depth: int
    ) -> dict[str, Any]:
        """Encode attributes or fields under their names in files."""
        names = stored_names(cls)
        encoded = self._members(members, path, depth)
        stored = {names.get(name, name): value for name, value in encoded.items()}
        if len(stored) != len(encoded):
            raise TypeError(f"{path}: cannot be stored: two of its parts have the same stored name")
        return stored

    def _add_array(self, array: Array, path: str) -> dict[str, int]:
        try:
            self.arrays.append(portable_array(array))
        except TypeError as error:
            raise TypeError(f"{path}: cannot be stored safely: {error}") from None
        return {"array": len(self.arrays) - 1}

    def _add_arrays(self, arrays: Mapping[str, Array], path: str) -> dict[str, dict[str, int]]:
        return {name: self._add_array(array, path) for name, array in arrays.items()}

    def _encode_array(self, array: Array, path: str, depth: int) -> Any:
        if array.dtype != np.dtype(object):
            # Sums of products are rounded by the order in memory, which has to come back.
            if array.flags.f_contiguous and not array.flags.c_contiguous:
                return {"transposed": self._add_array(array.T, path)["array"]}
            return self._add_array(array, path)
        values = self._items(array.ravel().tolist(), path, depth)
        return {"objects": {"shape": list(array.shape), "values": values}}

    def _encode_random_state(self, generator: np.random.RandomState, path: str) -> dict[str, Any]:
        state: Any = generator.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise cannot_store(generator, path, f"a RandomState on {state['bit_generator']}")
        return {
            "key": self._add_array(state["state"]["key"], path),
            "position": int(state["state"]["pos"]),
            "has_gauss": int(state["has_gauss"]),
            "gauss": self.encode(float(state["gauss"]), path, 0),
        }

    def _encode_tree(self, tree: Any, path: str) -> dict[str, Any]:
        return {
            "kinds": "".join(str(kind) for kind in tree.kinds),
            "arrays": self._add_arrays(stored_tree_arrays(tree), path),
        }

    def _encode_estimator(self, model: Any, path: str, depth: int) -> dict[str, Any]:
        cls = type(model)
        reason = refused(model)
        if reason is not None:
            raise cannot_store(model, path, reason=reason)
        try:
            params, attributes = stored_params(model), fitted_attributes(model)
        except TypeError as error:
            raise TypeError(f"{path}{error}") from None
        return {
            "params": self._named(cls, params, path, depth),
            "attributes": self._named(cls, attributes, path, depth),
        }


class _Decoder:
    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        self.unused = set(range(len(arrays)))
        self._shared: list[tuple[Any, int]] = []  # records that may come again, and their sizes
        self._repeated = 0
        self._readers: dict[str, Callable[[Any, int], Any]] = {
            "tuple": self._tuple,
            "dict": self._dict,
            "array": self._array,
            "transposed": self._transposed,
            "objects": self._objects,
            "random_state": self._random_state,
            "tree": self._tree,
            "forest": self._forest,
            "estimator": self._estimator,
            "record": self._record,
            "same": self._same,
        }

    def decode(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH + 1:
            raise BadContent(f"its objects are more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            raise BadContent("it has a JSON object that is not one tag with its payload")
        ((tag, payload),) = value.items()
        try:
            if tag in SIMPLE_READERS:
                return SIMPLE_READERS[tag](payload)
            if tag in self._readers:
                return self._readers[tag](payload, depth + 1)
            enum = enum_class(tag)
            if enum is not None:
                return enum(expect(int, payload))
        except BadContent:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise BadContent(f"it holds a {tag} that is not valid ({error})") from error
        raise BadContent(f"it holds a value of the unknown type {tag!r}")

    def _tuple(self, payload: Any, depth: int) -> Any:
        return tuple(self.decode(item, depth) for item in expect(list, payload))

    def _dict(self, payload: Any, depth: int) -> Any:
        pairs = [expect(list, pair) for pair in expect(list, payload)]
        result = {self.decode(key, depth): self.decode(obj, depth) for key, obj in pairs}
        if len(result) != len(pairs):
            raise BadContent("it holds a dict with the same key twice")
        return result

    def _array(self, payload: Any, depth: int) -> Array:
        index = expect(int, payload)
        if index not in self.unused:
            raise BadContent(f"it refers to the array {index}, which is used or does not exist")
        self.unused.remove(index)
        return self._arrays[index]

    def _transposed(self, payload: Any, depth: int) -> Array:
        return self._array(payload, depth).T

    def _objects(self, payload: Any, depth: int) -> Array:
        shape, values = members_of(payload, "shape", "values")
        result = np.empty(len(expect(list, values)), dtype=object)
        for index, item in enumerate(values):
            result[index] = self.decode(item, depth)
        sizes = [expect(int, size) for size in expect(list, shape)]
        if min(sizes, default=0) < 0:
            raise BadContent("it holds an array with a negative length")
        return result.reshape(sizes)

    def _random_state(self, payload: Any, depth: int) -> np.random.RandomState:
        key, position, has_gauss, gauss = members_of(
            payload, "key", "position", "has_gauss", "gauss"
        )
        key, gauss = self.decode(key, depth), self.decode(gauss, depth)
        # NumPy trusts these numbers: a position beyond the key would read foreign memory.
        if not (isinstance(key, np.ndarray) and key.dtype == np.uint32 and key.shape == (624,)):
            raise BadContent("it holds a random state without a key of 624 numbers")
        if not 0 <= expect(int, position) <= 624 or expect(int, has_gauss) not in (0, 1):
            raise BadContent("it holds a random state with a position out of range")
        generator = np.random.RandomState(0)
        generator.set_state(("MT19937", key, position, has_gauss, expect(float, gauss)))
        return generator

    def _tree(self, payload: Any, depth: int) -> Any:
        kinds, arrays = members_of(payload, "kinds", "arrays")
        if re.fullmatch("[012]*", expect(str, kinds)) is None:
            raise BadContent("it holds a tree whose kinds of features are not digits from 0 to 2")
        loaded = {name: self.decode(a, depth) for name, a in expect(dict, arrays).items()}
        return tree_from_arrays([int(kind) for kind in kinds], loaded)

    def _forest(self, payload: Any, depth: int) -> Any:
        arrays = {name: self.decode(a, depth) for name, a in expect(dict, payload).items()}
        return forest_from_arrays(arrays)

    def _estimator(self, payload: Any, depth: int) -> Any:
        name, params, attributes = members_of(payload, "class", "params", "attributes")
        cls = storable_class(expect(str, name))
        if cls is None or not is_estimator(cls):
            raise BadContent(f"it holds an estimator {name!r}, which this committee does not know")
        known = parameter_names(cls)
        unknown = sorted(k for k in expect(dict, params) if python_name(cls, k) not in known)
        if unknown:
            raise BadContent(f"it has parameters that {name} does not have: {', '.join(unknown)}")
        for key in expect(dict, attributes):
            if not may_be_attribute(cls, python_name(cls, key) or ""):
                raise BadContent(f"it sets {key!r} of {name}, which is no fitted attribute")
        given = self._named(cls, params, depth)
        fitted = self._named(cls, attributes, depth)
        check_declared(cls, given, fitted)
        model = build(cls, given)
        if fitted and hasattr(model, "_replace_fitted"):
            model._replace_fitted(fitted)
        else:
            for key, obj in fitted.items():
                setattr(model, key, obj)
        return validated(model, fitted)

    def _named(self, cls: type, members: dict[str, Any], depth: int) -> dict[str, Any]:
        """Decode parameters, attributes or fields, by their names in Python."""
        own = {key: python_name(cls, key) or key for key in members}
        if len(set(own.values())) != len(own):
            raise BadContent("it has two parts of the same name")
        return {own[key]: self.decode(obj, depth) for key, obj in members.items()}

    def _record(self, payload: Any, depth: int) -> Any:
        name, fields = members_of(payload, "class", "fields")
        cls = storable_class(expect(str, name))
        names = None if cls is None or is_estimator(cls) else field_names(cls)
        if cls is None or names is None:
            raise BadContent(f"it holds a record {name!r}, which this committee does not know")
        needed = set(names) - set(getattr(cls, "_later_fields", ())) - set(optional_fields(cls))
        if not needed <= {python_name(cls, key) for key in expect(dict, fields)} <= set(names):
            known = [stored_names(cls).get(own, own) for own in names]
            raise BadContent(f"it holds a {name} with other fields than {', '.join(known)}")
        loaded = self._named(cls, fields, depth)
        check_declared(cls, loaded, {})
        record = validated(build(cls, loaded))
        if is_shared(cls):
            self._shared.append((record, _n_containers(payload)))
        return record

    def _same(self, payload: Any, depth: int) -> Any:
        """Return a record that stands before; a small file must not make checks endless."""
        number = expect(int, payload)
        if not 0 <= number < len(self._shared):
            raise BadContent(f"it refers to the record {number}, which does not stand before")
        record, size = self._shared[number]
        self._repeated += size
        if self._repeated > _MOST_REPEATED:
            raise BadContent("it repeats records too often")
        return record


def _n_containers(value: Any) -> int:
    """Return how many lists and objects a JSON value consists of."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) + sum(map(_n_containers, parts))


def _key_label(key: Any) -> str:
    # Not the repr of just anything: that of a large int raises, that of an array is a page.
    return f"{key!r:.40}" if type(key) is str else type(key).__name__

"""Calls what `_core` has with hostile arguments: `python tests/hostile_core.py GROUP FIRST`.

Writes a line before each case, its number, name and label, and one after it, what came of it. The
test that reads them starts anew behind a case that has ended the process. GROUP is a class,
"functions" or "all". With a number of cases for each name and a seed behind FIRST, two to four
arguments are hostile, drawn by chance.
"""

import faulthandler
import itertools
import os
import random
import sys
import warnings

import numpy as np
from hostile_calls import CALLS, OTHERS, group_of

from committee import _core

# Sizes of work that is done as asked for, however long it takes.
WORK = {"n_tasks", "work_per_task", "n_outer", "n_inner", "milliseconds", "n_trees"}
SECONDS = 20  # that a case may take on a busy machine

INTEGERS = (-1, 0, 1, 2, 3, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1)
INTEGERS += (2**61, 2**62 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**31), -(2**63), -(2**70))
REALS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-320, 1e300, 2.5)
WRONG = (None, "text", b"bytes", 1.5, True, (), [None], {}, object, 1j, np.float64("nan"))
TYPES = ("f4", "f8", "f2", "i1", "u1", "i4", "u4", "i8", "u8", "?", "c16", "O", "U3", "M8[s]")
TYPES += (">f8",)


def of_array(array):
    """The array with other shapes, types and values, by label."""
    yield "empty", array[:0].copy(order="A")
    yield "a row less", array[:-1].copy(order="A")
    yield "a row more", np.concatenate([array, array[:1]]).copy(order="A")
    yield "a row", array[:1].copy(order="A")
    yield "a dimension more", array[..., None].copy()
    yield "no dimension", np.array(array.flat[0] if array.size else 0, array.dtype)
    yield "in a row", array.reshape(1, -1)
    yield "every second", np.repeat(array, 2, axis=0)[::2]
    yield "backwards", array[::-1]
    yield "transposed", array.T
    yield "other order", np.asfortranarray(array) if array.flags.c_contiguous else array.copy("C")
    yield "one value", np.broadcast_to(array.flat[0] if array.size else 0, array.shape)
    yield "rows without end", np.broadcast_to(np.zeros(1, array.dtype), (2**40, *array.shape[1:]))
    yield "rows of nothing", np.zeros((2**40, 0), array.dtype)
    yield "nothing of rows", np.zeros((0, 2**40), array.dtype)
    locked = array.copy(order="A")
    locked.flags.writeable = False
    yield "read only", locked
    unaligned = np.frombuffer(b"x" + array.tobytes("A"), np.uint8)[1:].view(array.dtype)
    order = "F" if array.flags.f_contiguous else "C"
    yield "not aligned", unaligned.reshape(array.shape, order=order)
    yield "list", array.tolist()
    for name in TYPES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if np.dtype(name) != array.dtype:
                yield f"as {name}", array.astype(name)
    yield from of_values(array)


def of_values(array):
    if array.dtype.kind == "f":
        values = REALS
    elif array.dtype.kind == "b":
        return
    else:
        ends = np.iinfo(array.dtype)
        values = {-1, 0, 3, 4, 255, 2**16, 2**31 - 1, 2**32 - 1, ends.min, ends.max}
        values = sorted(v for v in values if ends.min <= v <= ends.max)
    for value in values:
        yield f"all {value}", np.full_like(array, value)
        for place, where in (("first", 0), ("last", -1)):
            if array.size:
                other = array.copy(order="A")
                other[where] = value
                yield f"{place} {value}", other


def of_items(items, depth):
    """A list or tuple with other items, and more or less of them."""
    kind = type(items)
    yield "no items", kind()
    yield "twice", kind([*items, *items])
    yield "once less", kind(items[:-1])
    yield "many", kind([*items] * 1000)
    for i, item in enumerate(items[:3]):
        for label, other in hostile(item, depth + 1):
            yield f"[{i}] {label}", kind([*items[:i], other, *items[i + 1 :]])


def of_entries(entries, depth):
    """A dict with other values, and more or less of them."""
    yield "no entries", {}
    yield "unknown entry", entries | {"nonsense": 1}
    yield "numbered entry", entries | {1: 1}
    for key, value in entries.items():
        yield f"without {key}", {k: v for k, v in entries.items() if k != key}
        for label, other in hostile(value, depth + 1):
            yield f"{key}: {label}", entries | {key: other}


def raising(done):
    raise KeyError(done)


def hostile(value, depth=0):
    """Other values for an argument, by label."""
    if depth == 0 or not isinstance(value, np.ndarray):
        for other in WRONG:
            yield f"{other!r}"[:30], other
    for kind, others in OTHERS.items():
        if isinstance(value, kind):
            yield "not made", kind.__new__(kind)
            for label, make in others.items():
                yield label, make()
            yield "another type", _core.Table(3) if kind is not _core.Table else plan_of_three()
    if isinstance(value, np.ndarray):
        yield from of_array(value)
    elif isinstance(value, str):
        yield from ((w[:20], w) for w in ("", "nonsense", "\0", "long" * 10**5, "\ud800"))
        criteria = ("entropy", "poisson", "absolute_error", "squared_error", "friedman_mse")
        levels = ("scalar", "avx2", "avx512", "squared_difference", "error", "level", "depth")
        yield from ((w, w) for w in (*criteria, *levels))
    elif isinstance(value, bool):
        yield "the other", not value
    elif isinstance(value, int):
        yield from ((str(number), number) for number in INTEGERS)
    elif isinstance(value, float):
        yield from ((str(number), number) for number in REALS)
    elif isinstance(value, (list, tuple)):
        yield from of_items(value, depth)
    elif isinstance(value, dict):
        yield from of_entries(value, depth)
    elif isinstance(value, bytes):
        yield from ((repr(b)[:20], b) for b in (b"", b"\xff\xfe", b'"', b'a"b;"\n"', b"\0;\n" * 9))
    elif callable(value):
        yield "raises", raising
        yield "wants more", lambda: None


def plan_of_three():
    return _core.SamplingPlan(3, [(np.arange(3, dtype=np.uint32), 3)])


def single_cases(names):
    """Name, label and the arguments that differ from the sound call."""
    for name in names:
        yield name, "sound", {}
        arguments = CALLS[name]()[1]
        for argument, value in arguments.items():
            for label, other in bearable(argument, value):
                yield name, f"{argument} {label}", {argument: other}
        yield name, "no rows at all", without_rows(arguments)
        yield name, "unknown argument", {"nonsense": 1}


def bearable(argument, value):
    """Hostile values but those that ask for much work."""
    for label, other in hostile(value):
        if argument not in WORK or not isinstance(other, int) or other < 1000:
            yield label, other


def without_rows(arguments):
    """Every array and table without rows."""
    others = {}
    for argument, value in arguments.items():
        if isinstance(value, np.ndarray):
            others[argument] = value[:0].copy(order="A")
        elif type(value) in OTHERS and "no rows" in OTHERS[type(value)]:
            others[argument] = OTHERS[type(value)]["no rows"]()
        elif argument == "n_rows":
            others[argument] = 0
    return others


def paired_cases(names, n_cases, seed):
    wrong = {f"{other!r}"[:30] for other in WRONG}  # alone they are refused
    for name in names:
        draw = random.Random(f"{name} {seed}")
        arguments = CALLS[name]()[1]
        allowed = {argument: [("sound", value)] for argument, value in arguments.items()}
        for argument, value in arguments.items():
            for label, other in bearable(argument, value):
                if label not in wrong and not label.startswith("as "):
                    allowed[argument].append((label, other))
        if len(arguments) < 2:
            continue
        for _ in range(n_cases):
            chosen = draw.sample(list(arguments), draw.randint(2, min(4, len(arguments))))
            picked = {argument: draw.choice(allowed[argument]) for argument in chosen}
            label = ", ".join(f"{argument} {label}" for argument, (label, _) in picked.items())
            yield name, label, {argument: other for argument, (_, other) in picked.items()}


def unmade_cases(names):
    """Methods and attributes of objects that were never made."""
    for name in names:
        if "." not in name:
            continue
        owner, attribute = name.split(".")
        kind = getattr(_core, owner)
        if type(vars(kind)[attribute]) is not type(_core.grow_tree):  # a static method
            arguments = CALLS[name]()[1]
            yield name, "of an object that was never made", (kind, attribute, arguments)


def digest(value):
    """What a result or an argument is made of, to compare."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return [digest(item) for item in value]
    if isinstance(value, dict):
        return {key: digest(item) for key, item in value.items()}
    if isinstance(value, (_core.Tree, _core.Forest)):
        return digest(value.arrays())
    return value if isinstance(value, (int, float, str)) else type(value).__name__


def run(name, others):
    """What comes of a call: its exception, or "returned"; and whether it has left traces."""
    function, arguments = CALLS[name]()
    try:
        function(**arguments | others)
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    else:
        return "returned"
    if outcome.startswith("TypeError"):  # nearly always of nanobind, which calls nothing then
        return outcome
    # A refused call changes nothing: the sound one answers as if it were the first.
    answers = []
    for call in (function, CALLS[name]()[0]):
        arguments = CALLS[name]()[1]
        try:
            answers.append((digest(call(**arguments)), digest(arguments)))
        except Exception as error:
            answers.append(error)
    return outcome if repr(answers[0]) == repr(answers[1]) else f"left traces: {outcome}"


def run_unmade(kind, attribute, arguments):
    try:
        getattr(kind.__new__(kind), attribute)(**arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "returned"


def limit_memory():
    """Answers to impossible sizes are MemoryError, not a machine without memory."""
    try:
        import resource
    except ImportError:
        return
    if "san.so" not in os.environ.get("LD_PRELOAD", ""):  # sanitizers map what they never use
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def write(line):
    """Write a line of plain text at once: the next call may be the last."""
    plain = line.encode("ascii", "backslashreplace").decode().replace("\n", " ")
    sys.stdout.write(plain[:300] + "\n")
    sys.stdout.flush()


def main(group, first, n_pairs=0, seed=0):
    limit_memory()
    warnings.simplefilter("ignore")  # of nanobind, which raises as well
    names = [name for name in CALLS if group in ("all", group_of(name))]
    singles = itertools.chain(single_cases(names), unmade_cases(names))
    cases = paired_cases(names, int(n_pairs), seed) if int(n_pairs) else singles
    for number, (name, label, others) in enumerate(cases):
        if number < int(first):
            continue
        write(f"{number}\t{name}\t{label}")
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        outcome = run_unmade(*others) if isinstance(others, tuple) else run(name, others)
        faulthandler.cancel_dump_traceback_later()
        write(f"\t{outcome}")
        _core.set_simd_level("auto")


if __name__ == "__main__":
    main(*sys.argv[1:])

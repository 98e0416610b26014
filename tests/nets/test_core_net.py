"""The net of the engine: derivatives, steps, and the same bits everywhere."""

import numpy as np
import pytest
from reference_net import SlowAdam, SlowNet

from committee import _core

# A number of three knots, a category of two levels, a number of two knots; each row of the table
# after the knots of a number is for its missing values.
FEATURES = [(3, 4), (0, 2), (2, 3)]
KNOTS = np.array([-1.0, 0.25, 1.0, 0.0, 0.0, 0.0, -1.5, 1.5, 0.0], np.float32)
NO_ROW = 2**32 - 1


def sizes(n_units=16, n_layers=1, n_members=2, n_outputs=2):
    return {
        "n_units": n_units,
        "n_layers": n_layers,
        "n_members": n_members,
        "n_outputs": n_outputs,
    }


def make_rows(rng, n_rows):
    """Rows with all kinds of cells: between knots, at the ends, missing, unseen."""
    codes = np.column_stack(
        [
            rng.integers(0, 4, n_rows),
            4 + rng.integers(0, 2, n_rows),
            6 + rng.integers(0, 3, n_rows),
        ]
    ).astype(np.uint32)
    fractions = rng.random((n_rows, 3)).astype(np.float32)
    fractions[rng.random((n_rows, 3)) < 0.2] = 1.0
    fractions[:, 1] = 0
    fractions[codes[:, 0] >= 2, 0] = 0  # at the last knot, or missing
    fractions[codes[:, 2] >= 7, 2] = 0
    codes[rng.random(n_rows) < 0.2, 1] = NO_ROW
    return codes, fractions


def targets(rng, n_rows, n_outputs):
    return {
        "classes": {"classes": rng.integers(0, n_outputs, n_rows).astype(np.int32)},
        "weighted classes": {
            "classes": rng.integers(0, n_outputs, n_rows).astype(np.int32),
            "weights": rng.uniform(0.2, 3, n_rows).astype(np.float32),
        },
        "numbers": {"reals": rng.normal(size=(n_rows, n_outputs)).astype(np.float32)},
    }


@pytest.mark.parametrize(
    ("kind", "n_layers", "n_outputs"),
    [("classes", 1, 3), ("weighted classes", 0, 2), ("numbers", 2, 1), ("numbers", 1, 2)],
)
def test_steps_are_those_of_a_slow_net_with_derivatives_by_differences(
    kind, n_layers, n_outputs, rng
):
    n_rows = 37  # two blocks
    codes, fractions = make_rows(rng, n_rows)
    target = targets(rng, n_rows, n_outputs)[kind]
    own = sizes(n_layers=n_layers, n_outputs=n_outputs)
    shape = _core.NetShape(FEATURES, KNOTS, **own)
    settings = {
        "batch_rows": n_rows,
        "weight_decay": 0.3,
        "table_decay": 0.1,
        "averaging": 0.15,
        "seed": 5,
    }
    trainer = _core.NetTrainer(shape, codes, fractions, settings, **target)
    slow = SlowNet(FEATURES, KNOTS.astype(float), **own)
    adam = SlowAdam(
        trainer.parameters().astype(float), slow.decays(shape.n_parameters, 0.3, 0.1), 0.15
    )
    for rate in (0.01, 0.02, 0.005):
        adam.step(slow.gradient(adam.parameters, codes, fractions, **target), rate)
        trainer.run_epoch(np.arange(n_rows, dtype=np.uint32), rate)
        # Rounding of tiny derivatives matters, as Adam divides them by their size.
        np.testing.assert_allclose(trainer.parameters(), adam.parameters, atol=5e-5)
        np.testing.assert_allclose(trainer.average(), adam.average, atol=5e-5)


@pytest.mark.parametrize(("is_class", "n_outputs"), [(True, 5), (False, 2)])
def test_predictions_are_those_of_a_slow_net(is_class, n_outputs, rng):
    codes, fractions = make_rows(rng, 45)
    own = sizes(n_units=48, n_layers=2, n_members=3, n_outputs=n_outputs)
    shape = _core.NetShape(FEATURES, KNOTS, **own)
    parameters = rng.normal(size=shape.n_parameters).astype(np.float32) / 4
    predicted = _core.Net(shape, parameters).predict(codes, fractions, is_class=is_class)
    slow = SlowNet(FEATURES, KNOTS.astype(float), **own)
    expected = slow.predict(parameters.astype(float), codes, fractions, is_class=is_class)
    np.testing.assert_allclose(predicted, expected, rtol=2e-4, atol=1e-5)
    if is_class:
        np.testing.assert_allclose(predicted.sum(axis=1), 1)


@pytest.fixture
def levels():
    """The instruction sets of this processor; the choice is put back afterwards."""
    every = ["scalar", "avx2", "avx512"]
    _core.set_simd_level("auto")
    yield every[: every.index(_core.simd_level()) + 1]
    _core.set_simd_level("auto")


@pytest.mark.parametrize("n_units", [16, 48, 128])
def test_neither_threads_nor_the_instruction_set_change_a_bit(n_units, levels, rng):
    n_rows = 333
    codes, fractions = make_rows(rng, n_rows)
    shape = _core.NetShape(FEATURES, KNOTS, n_units=n_units, n_layers=2, n_members=3, n_outputs=6)
    settings = {"batch_rows": 100, "dropout": 0.2, "averaging": 0.9, "seed": 1}
    target = targets(rng, n_rows, 6)["weighted classes"]
    found = []
    for level in levels:
        _core.set_simd_level(level)
        for n_threads in (1, 2, 3):
            trainer = _core.NetTrainer(shape, codes, fractions, settings, **target)
            for _ in range(3):
                trainer.run_epoch(np.arange(n_rows, dtype=np.uint32), 0.01, n_threads)
            net = _core.Net(shape, trainer.average())
            predicted = net.predict(codes, fractions, is_class=True, n_threads=n_threads)
            logs = _core.minus_logs(np.ascontiguousarray(predicted[:, 0]))
            found.append((trainer.parameters(), trainer.average(), predicted, logs))
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_another_seed_gives_another_net_and_dropout_changes_steps_only(rng):
    codes, fractions = make_rows(rng, 50)
    shape = _core.NetShape(FEATURES, KNOTS, **sizes())
    target = targets(rng, 50, 2)["classes"]
    rows = np.arange(50, dtype=np.uint32)

    def run(**settings):
        trainer = _core.NetTrainer(shape, codes, fractions, settings, **target)
        before = trainer.parameters()
        trainer.run_epoch(rows, 0.01)
        return before, trainer.parameters()

    plain, dropped, other = run(seed=1), run(seed=1, dropout=0.5), run(seed=2)
    np.testing.assert_array_equal(plain[0], dropped[0])
    assert (plain[1] != dropped[1]).any()
    assert (plain[0] != other[0]).any()


def test_dropout_leaves_out_its_share_of_the_units():
    # The first step moves the weights of a head whose units are neither zero nor left out.
    shape = _core.NetShape(
        [(0, 1)], np.zeros(1, np.float32), **sizes(n_units=128, n_layers=0, n_outputs=1)
    )
    codes, fractions = np.zeros((1, 1), np.uint32), np.zeros((1, 1), np.float32)

    def moved(seed, dropout):
        settings = {"dropout": dropout, "seed": seed}
        reals = np.full((1, 1), 10, np.float32)
        trainer = _core.NetTrainer(shape, codes, fractions, settings, reals=reals)
        before = trainer.parameters()
        trainer.run_epoch(np.zeros(1, np.uint32), 0.01)
        return (before != trainer.parameters())[5 * 128 : 7 * 128]

    every = np.concatenate([moved(seed, 0.0) for seed in range(20)])
    some = np.concatenate([moved(seed, 0.3) for seed in range(20)])
    assert 0.3 < every.mean() < 0.7
    assert not (some & ~every).any()
    n_draws = every.sum()
    assert abs(some.sum() / n_draws - 0.7) < 4 * np.sqrt(0.7 * 0.3 / n_draws)


def test_minus_logs_are_logarithms():
    shares = np.concatenate([[1.0, 0.5, 1e-300], np.geomspace(1e-12, 1, 1000)])
    np.testing.assert_allclose(_core.minus_logs(shares), -np.log(shares), rtol=1e-14, atol=1e-300)
    assert 690 < _core.minus_logs(np.zeros(1))[0] < 700


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_units": 24}, "n_units must be"),
        ({"n_members": 0}, "too few"),
        ({"n_outputs": 2**17}, "too many"),
        ({"n_units": 4096, "n_layers": 16, "n_members": 256, "n_outputs": 60_000}, "parameters"),
    ],
)
def test_sizes_out_of_range_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        _core.NetShape(FEATURES, KNOTS, **(sizes() | changes))


@pytest.mark.parametrize(
    ("features", "knots"),
    [
        ([(3, 2)], np.zeros(2)),
        ([(1, 2)], np.zeros(2)),
        ([(0, 2)], np.zeros(3)),
        ([(0, 2**32 - 1), (0, 3)], np.zeros(2)),
        ([(0, 1)], np.array([np.nan])),
    ],
)
def test_features_that_do_not_fit_their_knots_are_refused(features, knots):
    with pytest.raises(ValueError, match="knots"):
        _core.NetShape(features, knots.astype(np.float32), **sizes())


@pytest.mark.parametrize(
    ("place", "code", "fraction"),
    [(0, 4, 0.0), (0, 2, 0.5), (0, 3, 0.1), (0, 0, 1.5), (0, 0, np.nan), (1, 3, 0.0), (1, 4, 0.2)],
)
def test_cells_out_of_range_are_refused(place, code, fraction):
    shape = _core.NetShape(FEATURES, KNOTS, **sizes())
    codes = np.array([[0, 4, 6]], np.uint32)
    fractions = np.zeros((1, 3), np.float32)
    net = _core.Net(shape, np.zeros(shape.n_parameters, np.float32))
    assert net.predict(codes, fractions, is_class=True).tolist() == [[0.5, 0.5]]
    codes[0, place], fractions[0, place] = code, fraction
    with pytest.raises(ValueError, match="out of range"):
        net.predict(codes, fractions, is_class=True)


def test_parameters_rows_and_targets_that_do_not_fit_are_refused():
    shape = _core.NetShape(FEATURES, KNOTS, **sizes())
    codes, fractions = np.array([[0, 4, 6]], np.uint32), np.zeros((1, 3), np.float32)
    with pytest.raises(ValueError, match="parameters"):
        _core.Net(shape, np.zeros(shape.n_parameters - 1, np.float32))
    for target in (
        {"classes": np.array([2], np.int32)},
        {"classes": np.array([-1], np.int32)},
        {"classes": np.array([0, 1], np.int32)},
        {"reals": np.zeros((1, 1), np.float32)},
        {},
    ):
        with pytest.raises(ValueError, match=r"class|reals|target"):
            _core.NetTrainer(shape, codes, fractions, {}, **target)
    trainer = _core.NetTrainer(shape, codes, fractions, {}, classes=np.array([1], np.int32))
    for rows in ([1], []):
        with pytest.raises(ValueError, match="rows"):
            trainer.run_epoch(np.array(rows, np.uint32), 0.1)

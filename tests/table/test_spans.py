"""Periods are read as the times at which they begin, intervals as their middles."""

import numpy as np
import pandas as pd
import pytest
from table_tools import read_one

import committee
from committee.tables.table import read_table


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("freq", ["D", "M", "Q", "Y", "W", "h", "s", "ms"])
def test_periods_begin_at_a_time(freq):
    times = pd.to_datetime(["2021-03-04 05:06:07", None, "1965-12-31 00:00:00"])
    periods = pd.Series(times).dt.to_period(freq)
    info, cells = read_one(pd.DataFrame({"a": periods}))
    starts = [None if p is pd.NaT else int(p.start_time.value) // 1000 for p in periods]
    assert (info.label, cells) == ("datetime", starts)
    assert read_one(periods.astype(object).to_frame("a")) == (info, cells)
    assert read_one(periods.astype(object).to_numpy()[:, None])[1] == starts


@pytest.mark.usefixtures("recording")
def test_periods_long_ago_and_far_ahead_are_read():
    periods = pd.Series(pd.PeriodIndex(["1066", "9000"], freq="Y"))
    info, cells = read_one(pd.DataFrame({"a": periods}))
    expected = np.array(["1066-01-01", "9000-01-01"], "datetime64[us]").astype(int).tolist()
    assert (info.label, cells) == ("datetime", expected)


@pytest.mark.usefixtures("recording")
def test_intervals_have_a_middle():
    intervals = pd.arrays.IntervalArray.from_tuples([(0, 1), None, (5, 10), (-np.inf, 0)])
    info, cells = read_one(pd.DataFrame({"a": intervals}))
    assert (info.label, cells) == ("number", [0.5, None, 7.5, -np.inf])
    objects = pd.DataFrame({"a": pd.Series(intervals).astype(object)})
    assert read_one(objects)[1] == cells


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("zone", [None, "Europe/Vienna"])
def test_intervals_of_times_and_durations(zone):
    days = pd.to_datetime(["2020-01-01", "2020-01-03"]).tz_localize(zone)
    info, cells = read_one(pd.DataFrame({"a": pd.arrays.IntervalArray.from_breaks(days)}))
    middle = pd.Timestamp("2020-01-02", tz=zone).value // 1000
    assert (info.label, cells) == ("datetime", [middle])
    hours = pd.arrays.IntervalArray.from_breaks(pd.to_timedelta([0, 2], "h"))
    assert read_one(pd.DataFrame({"a": hours}))[0].label == "timedelta"


def test_models_learn_from_them_and_take_times_and_numbers_later(rng):
    months = pd.period_range("2000-01", periods=60, freq="M")
    breaks = pd.arrays.IntervalArray.from_breaks(np.arange(61))
    frame = pd.DataFrame({"month": months, "bin": breaks})
    y = np.arange(60.0)
    for column in ("month", "bin"):
        model = committee.DecisionTreeRegressor().fit(frame[[column]], y)
        assert model.predict(frame[[column]]).tolist() == y.tolist()
    model = committee.DecisionTreeRegressor(max_depth=1).fit(frame[["month"]], y)
    assert committee.export_text(model).startswith("|--- month <= 2002-06-16\n")
    assert model.predict(pd.DataFrame({"month": months.to_timestamp()})).tolist() == (
        model.predict(frame[["month"]]).tolist()
    )
    model = committee.DecisionTreeRegressor().fit(frame[["bin"]], y)
    assert model.predict(pd.DataFrame({"bin": [3.5]})).tolist() == [3.0]


def test_bins_of_cut_are_ordered_levels(rng):
    bins = pd.cut(rng.normal(size=100), [-9, -1, 0, 1, 9])
    info = read_table(pd.DataFrame({"a": bins}))[1].features[0]
    assert info.order == ("(-9, -1]", "(-1, 0]", "(0, 1]", "(1, 9]")

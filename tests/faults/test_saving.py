"""A file that could not be written whole leaves the old one as it was, whatever ended it."""

import json
import os
import random
import signal
import time
import warnings

import numpy as np
import pytest
from fault_models import NAMES, answers, estimators, fit, table, target, times

import committee
from committee import ModelFileError
from committee.files import archive, codec, model_file

ROWS = table(200)


@pytest.fixture(scope="module")
def models():
    return {name: fit(each, ROWS, target(each, ROWS)) for name, each in estimators().items()}


@pytest.fixture
def limit_of_files():
    """Return a function that limits the length of files, which are as on a full disk then."""
    resource = pytest.importorskip("resource")
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda n_bytes: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_keeps_the_old_file(name, models, tmp_path, limit_of_files, rng):
    path = tmp_path / "model"
    committee.save(models[name], path)
    whole = path.read_bytes()
    path.write_bytes(b"old")
    for n_bytes in rng.integers(1, len(whole), times(3)):
        limit_of_files(int(n_bytes))
        with pytest.raises(OSError, match="File too large"):
            committee.save(models[name], path)
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["model"]
    limit_of_files(len(whole))
    committee.save(models[name], path)
    assert path.read_bytes() == whole


def test_a_device_is_no_place_for_a_model(models):
    if not os.path.exists("/dev/full"):
        pytest.skip("has no /dev/full")
    with pytest.raises(OSError, match="cannot replace a device"):
        committee.save(models["DecisionTreeClassifier"], "/dev/full")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("seed", range(times(10)))
def test_a_killed_writer_leaves_a_whole_file(seed, models, tmp_path):
    path = tmp_path / "model"
    draw = random.Random(seed)
    names = draw.sample(NAMES, 2)
    known = {answers(models[name], ROWS) for name in names}
    committee.save(models[names[0]], path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where threads exist
        child = os.fork()
    if child == 0:
        try:
            while True:
                for name in names:
                    committee.save(models[name], path)
        finally:
            os._exit(1)
    time.sleep(draw.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert answers(committee.load(path), ROWS) in known
    left = [name for name in os.listdir(tmp_path) if name != "model"]
    assert len(left) <= 1  # the file that was being written, by the name of a temporary one
    assert all(name.startswith(".model.") and name.endswith(".tmp") for name in left)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_a_newer_version_is_refused_by_its_number(name, models, tmp_path):
    root, arrays = codec.encode(models[name])
    header = {
        "format": model_file.FORMAT_NAME,
        "version": model_file.FORMAT_VERSION + 1,
        "committee": "99.0",
        "root": root,
        "something": "new",
    }
    path = tmp_path / "model"
    with path.open("wb") as file:
        archive.write_archive(file, json.dumps(header).encode(), [*arrays, np.zeros(3)])
    with pytest.raises(ModelFileError, match=r"format version 2; .* install a newer committee"):
        committee.load(path)

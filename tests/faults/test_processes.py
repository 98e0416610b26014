"""Other processes predict and fit as this one does, whether they were forked or started anew."""

import multiprocessing
import warnings

import pytest
from fault_models import NAMES, answers, estimators, fit, predict_and_fit, table, target

ROWS = table()


@pytest.fixture(scope="module")
def here():
    models = {name: fit(each, ROWS, target(each, ROWS)) for name, each in estimators().items()}
    return models, {name: answers(model, ROWS) for name, model in models.items()}


@pytest.fixture(scope="module", params=["fork", "spawn"])
def there(request, here):
    """What another process says that got the models: by its memory, or by pickle."""
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {request.param} here")
    context = multiprocessing.get_context(request.param)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where threads exist
        with context.Pool(1) as pool:
            return pool.apply_async(predict_and_fit, [here[0], ROWS]).get(timeout=120)


@pytest.mark.parametrize("name", NAMES)
def test_another_process_predicts_and_fits_alike(name, here, there):
    assert there[name] == (here[1][name], here[1][name])

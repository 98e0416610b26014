"""What is not fitted is refused by one error in the words of scikit-learn."""

from inspect import getattr_static

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import committee
from committee import DecisionTreeClassifier, DecisionTreeRegressor

CLASSES = [getattr(committee, name) for name in committee.__all__]
CLASSES = [cls for cls in CLASSES if isinstance(cls, type) and hasattr(cls, "get_params")]


def make(cls):
    if "estimators" in cls._get_param_names():
        is_class = cls.__name__.endswith("Classifier")
        return cls([("tree", DecisionTreeClassifier() if is_class else DecisionTreeRegressor())])
    return cls()


@pytest.mark.parametrize("cls", CLASSES)
def test_every_fitted_attribute_is_absent_and_every_prediction_refused(cls):
    model = make(cls)
    match = f"This {cls.__name__} instance is not fitted yet"
    with pytest.raises(NotFittedError, match=match):
        check_is_fitted(model)
    for method in ("predict", "predict_proba", "staged_predict", "votes", "apply"):
        if hasattr(cls, method):
            with pytest.raises(NotFittedError, match=match):
                list(getattr(model, method)(np.zeros((2, 2))))
    for name in dir(cls):
        if (
            name.endswith("_")
            and not name.startswith("_")
            and isinstance(getattr_static(cls, name), property)
        ):
            assert not hasattr(model, name), name


def test_properties_name_what_is_missing():
    for name in ("AdaBoostClassifier", "GradientBoostingRegressor", "RandomForestClassifier"):
        model = getattr(committee, name)()
        with pytest.raises(NotFittedError, match=f"This {name} instance is not fitted yet"):
            _ = model.feature_importances_

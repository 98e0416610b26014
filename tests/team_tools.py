"""Members for tests of voting and stacking: some say what the table says, others tell on leaks."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from committee import C45Classifier, DecisionTreeClassifier, ExtraTreesClassifier


class Says(ClassifierMixin, BaseEstimator):
    """Says with which probabilities: columns of the table, from `begin` on, one for each class."""

    def __init__(self, begin=0):
        self.begin = begin

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, self.begin : self.begin + len(self.classes_)]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class SaysNumber(RegressorMixin, BaseEstimator):
    """Predicts a column of the table."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, sample_weight=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X, float)[:, self.column]


def committee_of(cls, n_members, n_classes=2, **options):
    """Return a fitted committee whose members say what the columns of the table say."""
    members = [(f"m{k}", Says(k * n_classes)) for k in range(n_members)]
    X = np.tile(np.eye(n_classes), (1, n_members))
    return cls(members, **options).fit(X, np.arange(n_classes))


class SpyRegressor(RegressorMixin, BaseEstimator):
    """Answers 1 for a row that it has been fitted to, else 0; column 0 of the table is row ids."""

    def __init__(self, note=None):
        self.note = note

    def fit(self, X, y, sample_weight=None):
        X = np.asarray(X.todense() if hasattr(X, "todense") else X, float)
        present = np.ones(len(X), bool) if sample_weight is None else np.asarray(sample_weight) > 0
        self.seen_ = np.unique(X[present, 0])
        self.n_rows_ = int(present.sum())
        return self

    def predict(self, X):
        X = np.asarray(X.todense() if hasattr(X, "todense") else X, float)
        return np.isin(X[:, 0], self.seen_).astype(float)


class SpyClassifier(ClassifierMixin, SpyRegressor):
    """The same with probabilities; class 1 is "seen"."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        seen = SpyRegressor.predict(self, X)
        return np.column_stack([1 - seen, seen])

    def predict(self, X):
        return SpyRegressor.predict(self, X).astype(int)


class WantsAllCodes(ClassifierMixin, BaseEstimator):
    """Logistic regression that takes class codes 0, 1, ... only, without gaps, as XGBoost's do."""

    def __init__(self, class_weight=None):
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        found = np.unique(y)
        if found.tolist() != list(range(len(found))):
            raise ValueError(f"Invalid classes: {found}")
        self.model_ = LogisticRegression(class_weight=self.class_weight)
        self.model_.fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def decision_function(self, X):
        return self.model_.decision_function(X)


def classifiers():
    """Classifiers of scikit-learn."""
    return [
        ("line", LogisticRegression()),
        ("bayes", GaussianNB()),
        ("near", KNeighborsClassifier(3)),
    ]


def regressors():
    """Regressors of scikit-learn."""
    return [("line", LinearRegression()), ("ridge", Ridge()), ("near", KNeighborsRegressor(4))]


def own_classifiers():
    """Classifiers of this library."""
    return [
        ("tree", DecisionTreeClassifier(max_depth=3)),
        ("c45", C45Classifier()),
        ("extra", ExtraTreesClassifier(4, random_state=0)),
    ]

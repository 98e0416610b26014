"""A forest that knows how good it is: no rows held back, and the promise kept on new ones."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from committee import RandomForestRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, random_state=0)

forest = RandomForestRegressor(
    300, max_features="sqrt", oob_score=True, uncertainty=True, random_state=0
).fit(X, y)
print(
    f"R2 on out-of-bag rows {forest.oob_score_:.2f}, on new rows {forest.score(X_new, y_new):.2f}"
)

low, high = forest.predict_interval(X_new, coverage=0.8).T
held = np.mean((low <= y_new) & (y_new <= high))
print(
    f"80 % intervals hold {held:.0%} of the new rows; their mean width is {np.mean(high - low):.0f}"
)

importances = forest.permutation_importance(X, y)
print("permuting these costs most:", ", ".join(importances.ranking()[:3]))

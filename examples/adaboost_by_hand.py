"""AdaBoost in twenty lines, on stumps that minimise the weighted error.

Ten points in the plane that no single stump separates. Each round fits a stump to the weighted
points, gives it a say of half the log-odds of its accuracy, and raises the weights of the points it
got wrong.
"""

import numpy as np

from committee import DecisionTreeClassifier

X = np.array([[1, 2], [2, 4], [5, 10], [8, 7], [7, 8], [3, 5], [4, 1], [6, 6], [9, 9], [10, 3]])
y = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1])

weights = np.full(10, 0.1)
total = np.zeros(10)
for round_number in range(1, 4):
    stump = DecisionTreeClassifier(criterion="error", max_depth=1)
    votes = stump.fit(X, y, sample_weight=weights).predict(X)
    error = weights[votes != y].sum()
    say = 0.5 * np.log((1 - error) / error)
    total += say * votes
    weights *= np.exp(-say * y * votes)
    weights /= weights.sum()
    wrong = int((np.sign(total) != y).sum())
    feature, threshold = stump.tree_.feature[0], stump.tree_.threshold[0]
    print(
        f"round {round_number}: x{feature} <= {threshold:g}, error {error:.2f}, say {say:.2f}; "
        f"the committee gets {wrong} of 10 wrong"
    )

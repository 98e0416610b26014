"""Choose the strength of pruning by cross-validation: the smallest tree within one standard error.

A full tree fits the noise of its training rows. The pruning path lists every tree that pruning can
leave; cross-validation tells which of them predicts well, and among those that are not clearly
worse than the best we take the smallest (Breiman et al. 1984).
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from committee import DecisionTreeClassifier, export_rules
from committee.datasets import load_penguins

X, y = load_penguins()
alphas = DecisionTreeClassifier().cost_complexity_pruning_path(X, y).ccp_alphas[:-1]
# Between two breakpoints the tree is the same; their geometric mean stands for the interval.
candidates = np.sqrt(alphas * np.append(alphas[1:], alphas[-1]))

folds = StratifiedKFold(10, shuffle=True, random_state=0)
scores = np.array(
    [cross_val_score(DecisionTreeClassifier(ccp_alpha=a), X, y, cv=folds) for a in candidates]
)
means = scores.mean(axis=1)
errors = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])

best = int(np.argmax(means))
chosen = int(np.flatnonzero(means >= means[best] - errors[best]).max())
for number, (alpha, mean, error) in enumerate(zip(candidates, means, errors, strict=True)):
    leaves = DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y).get_n_leaves()
    mark = " <- best" * (number == best) + " <- chosen" * (number == chosen)
    print(f"alpha {alpha:.4f}  {leaves:2} leaves  accuracy {mean:.3f} +- {error:.3f}{mark}")

print()
print(export_rules(DecisionTreeClassifier(ccp_alpha=candidates[chosen]).fit(X, y)))

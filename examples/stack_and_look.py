"""A stack of three models, who is trusted in it, and a check that it keeps its promises."""

import warnings

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor

from committee import RandomForestRegressor, StackingRegressor, VotingRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, random_state=0)
members = [
    ("line", LinearRegression()),
    ("forest", RandomForestRegressor(50, random_state=0)),
    ("neighbours", KNeighborsRegressor(20)),
]

vote = VotingRegressor(members).fit(X, y)
print(f"mean of three: R2 {vote.score(X_new, y_new):.2f} on new rows")
print(vote.explain_vote(X_new[:1]))

stack = StackingRegressor(members, "convex", leak_check=True, random_state=0).fit(X, y)
weights = zip(stack.named_estimators_, stack.final_estimator_.weights_, strict=True)
print("stack:", ", ".join(f"{weight:.2f} {name}" for name, weight in weights))
print(f"R2 {stack.score(X_new, y_new):.2f} on new rows; {stack.leak_report_.message}")

# Members that saw the rows which the meta-learner learns from: the forest knows them by heart.
fitted = [(name, member.fit(X, y)) for name, member in members]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    leaky = StackingRegressor(fitted, cv="prefit", leak_check=True, random_state=0).fit(X, y)
print(f"members that saw the rows: R2 {leaky.score(X_new, y_new):.2f} on new rows")
print(caught[0].message)

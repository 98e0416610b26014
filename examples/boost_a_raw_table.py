"""Boosting a raw table: rounds chosen by held-out rows, and why a bird got its answer."""

import numpy as np

from committee import GradientBoostingRegressor
from committee.datasets import load_penguins

X, mass = load_penguins("body_mass_g")
rng = np.random.default_rng(0)
test = rng.random(len(X)) < 0.25

# Nothing to set: five folds say how many rounds, then all training rows are fitted with that many.
model = GradientBoostingRegressor(random_state=0).fit(X[~test], mass[~test])
print(model.round_choice_)
print("chosen:", model.chosen_params_)

error = np.sqrt(np.mean((model.predict(X[test]) - mass[test]) ** 2))
print(f"error on new birds: {error:.0f} g, of the mean: {mass[test].std():.0f} g")

# What each column adds to the answer for one bird; the last number is the mean of all.
bird = X[test].head(1)
*parts, mean = model.predict_contributions(bird)[0]
print(f"{mean:6.0f} g  a penguin")
for name, part in sorted(zip(X.columns, parts, strict=True), key=lambda each: -abs(each[1])):
    print(f"{part:+6.0f} g  {name} = {bird[name].iloc[0]}")
print(f"{model.predict(bird)[0]:6.0f} g  this bird")

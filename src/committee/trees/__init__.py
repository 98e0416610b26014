"""Single decision trees: estimators, the view of a grown tree, its text, rules and picture."""

"""How good a model is: out-of-bag and bootstrap scores, validation rows, importances, coverage."""

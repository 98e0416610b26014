"""AdaBoost for classes and for numbers."""

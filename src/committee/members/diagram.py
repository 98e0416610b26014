"""What notebooks show of ensembles: scikit-learn's diagrams, with the members side by side."""

from __future__ import annotations

from typing import Any


def visual_block(kind: str, *arguments: Any, **options: Any) -> Any:
    """Return a block of scikit-learn's diagrams of estimators, "serial" or "parallel"."""
    try:
        from sklearn.utils._repr_html.estimator import _VisualBlock
    except ImportError:  # before 1.7
        from sklearn.utils._estimator_html_repr import _VisualBlock
    return _VisualBlock(kind, *arguments, **options)


def side_by_side(pairs: Any, **options: Any) -> Any:
    """Return a block of named estimators."""
    names, members = zip(*pairs, strict=True)
    return visual_block("parallel", members, names=names, **options)

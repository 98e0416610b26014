"""What training a net costs, in the units of the committee in one line."""

from __future__ import annotations


def epoch_cost(
    n_rows: int,
    n_features: int,
    n_outputs: int,
    *,
    n_units: int = 128,
    n_layers: int = 2,
    n_members: int = 4,
) -> float:
    """Return the work of one pass over the training rows.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    n_outputs : int
        Number of classes; 1 for numbers.
    n_units, n_layers, n_members : int
        Parameters of the net.

    Returns
    -------
    units : float
        One is about a second of one core of a server of 2023.

    Examples
    --------
    >>> 0.05 < epoch_cost(10_000, 20, 2) < 0.2
    True
    """
    dense = (n_layers - 1) * n_units + 2 * n_outputs + 12
    per_row = n_units * (4.0 * n_features + n_members * dense)
    return 1.1e-10 * n_rows * per_row + 1e-6 * n_features

"""How many of the rows a bootstrap sample holds."""

from __future__ import annotations

import math

from committee.base.params import check_int, is_real


def bootstrap_inclusion(n: float, m: int | None = None) -> float:
    r"""Probability that a row is in a bootstrap sample.

    Lectures: Charles, Sharif and Littoral, who leave out :math:`(1 - 1/n)^n \approx e^{-1} =
    0.368` of the rows; Tor Vergata, with samples of another size.

    .. math:: 1 - \left(1 - \frac{1}{n}\right)^m

    Parameters
    ----------
    n : int
        Number of rows. ``math.inf`` gives the limit for samples as large as the table.
    m : int or None, default=None
        Draws with replacement; None is n of them.

    Returns
    -------
    probability : float
        It is also the expected share of the rows that are drawn at least once; the others are out
        of bag.

    Notes
    -----
    Limits: equal probabilities for all rows; drawing groups or strata changes it.

    Examples
    --------
    >>> from committee.theory import bootstrap_inclusion
    >>> [round(1 - bootstrap_inclusion(n), 4) for n in (10, 100, 1000)]
    [0.3487, 0.366, 0.3677]
    >>> round(bootstrap_inclusion(1000, 500), 4)  # half as many draws
    0.3936
    """
    if is_real(n) and n == math.inf:
        if m is not None:
            raise ValueError(f"m must be None for n = inf; got {m!r}")
        return -math.expm1(-1.0)
    n_rows = check_int("n", n, 1)
    n_draws = n_rows if m is None else check_int("m", m, 0)
    if n_rows == 1:
        return float(n_draws > 0)
    return -math.expm1(n_draws * math.log1p(-1.0 / n_rows))

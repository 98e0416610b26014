"""Names of the array types that most signatures of the package hold."""

import numpy as np
from numpy.typing import NDArray

# Numbers in double precision: targets, weights, predictions, scores.
Floats = NDArray[np.float64]

# Numbers of rows or columns of a table, to take them by.
Rows = NDArray[np.int64]

"""From what users pass (frames, arrays, lists) to tables, targets and weights of the engine."""

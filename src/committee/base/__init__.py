"""What every estimator needs: parameters, seeds, draws, threads, progress, interrupts."""

"""Lower bounds in rational arithmetic, with nothing of the solvers."""

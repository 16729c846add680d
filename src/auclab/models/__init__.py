"""Programs as algebra: Pyomo, CVXPY, and the solvers' own forms."""

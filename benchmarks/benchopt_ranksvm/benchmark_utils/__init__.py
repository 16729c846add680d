"""What data sets and solvers share."""

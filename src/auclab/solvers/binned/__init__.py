"""Hinge programs over distributed rows: a pass sends w to the workers, which return sums by bins of the scores."""

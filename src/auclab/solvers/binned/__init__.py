"""Hinge programs over rows that stay where they are: a pass sends w out and sums by bins of the scores back."""

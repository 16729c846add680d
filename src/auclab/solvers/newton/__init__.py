"""A smoothed Newton method for hinge programs that forms no pair."""

"""The smoothed Newton method that forms no pair."""

"""The level bundle method on cuts from sorted scores."""

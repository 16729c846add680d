"""An interior-point method for few rows with many columns."""

"""Calders & Jaroszewicz 2007, *Efficient AUC optimization for classification*."""

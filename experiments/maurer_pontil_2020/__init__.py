"""Maurer & Pontil 2020, *Estimating weighted areas under the ROC curve*."""

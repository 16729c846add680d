"""Ratigan & Cowen, *The VOROS: lifting ROC curves to 3D to summarize unbalanced classifier performance*."""

"""Vanderlooy & Hüllermeier 2008, *A critical analysis of variants of the AUC*."""

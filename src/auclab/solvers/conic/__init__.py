"""Conic programs in Clarabel and SCS, through CVXPY."""

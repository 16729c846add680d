"""Ranking of patients, of alternatives and of grades, each compared with the usual methods."""

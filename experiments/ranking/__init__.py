"""Ranking of patients, of alternatives and of grades, each beside what is usual there."""

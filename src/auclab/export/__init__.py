"""A fitted scorer as a formula over the user's columns: evaluated, explained, and written in other languages."""

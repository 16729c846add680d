"""Rows as users have them."""

import pytest

import stranger


@pytest.fixture(scope="module")
def customers():
    """The table of a stranger: numbers, categories with commas, gaps, dates; and new rows with a new category."""
    table, new = stranger.table(900), stranger.table(200, seed=1)
    y = (table[stranger.TARGET] == stranger.POSITIVE).to_numpy().astype(int)
    drop = [stranger.TARGET, stranger.IDENTIFIER, stranger.NAMES]
    new.loc[::9, "region"] = "Réunion"
    new.loc[::11, stranger.DATE] = None
    return table.drop(columns=drop), y, new.drop(columns=drop)

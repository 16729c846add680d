"""Sizes that the package shares: how much is listed, looked at, held and read, and how long is waited.

A place that needs another size says why where it stands.
"""

#: Names or values that a sentence lists.
FEW = 6
#: Lines of a list on a screen or a page.
LINES = 12
#: Observations that a statement needs: fewer of a class or a category get a note.
ENOUGH = 10
#: Rows that are looked at where a sample tells enough.
LOOKED_AT = 10_000
#: Rows of a block, and of a sample that stands for a large table: 2^17.
BLOCK_ROWS = 131_072
#: Rows, pairs or bytes that are handled at once: 2^20.
AT_ONCE = 1_048_576
#: Rows, or entries of a table, from which work is shared or done in blocks.
MANY = 5_000_000
#: Numbers that are read or kept at most: 0.8 GB.
MOST_NUMBERS = 100_000_000
#: Entries of a configuration or of a list in a store, and files of a model.
MOST_ENTRIES = 10_000
#: Largest files, in bytes: of settings (auclab's have a few kilobytes), of other text (the history of a solve has a few
#: megabytes), and of data, also those kept in memory (the largest of conf/dataset has 150 million).
SETTINGS_BYTES, TEXT_BYTES, DATA_BYTES = 1_000_000, 100_000_000, 500_000_000
#: Seconds: what takes longer is reported; a server answers; another process ends its work.
SOON, ANSWER, PATIENCE = 2.0, 10.0, 120.0

"""A labelled sample, split by class: in memory, or in blocks that stay in files."""

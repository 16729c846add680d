"""A level bundle method whose cuts come from sorted scores."""

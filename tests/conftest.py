"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# the first call of a kernel compiles it, which no deadline should count
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

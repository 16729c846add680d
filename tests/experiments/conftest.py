"""The studies are a package beside src, which only ``python -m`` finds by itself."""

import sys
from pathlib import Path

REPOSITORY = str(Path(__file__).parents[2])
if REPOSITORY not in sys.path:
    sys.path.insert(0, REPOSITORY)

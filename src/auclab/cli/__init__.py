"""The command `auclab`, and `python run.py`."""

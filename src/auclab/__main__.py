"""`python -m auclab` is the command `auclab`."""

from auclab.cli.main import program

if __name__ == "__main__":
    program()

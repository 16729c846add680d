"""`python -m auclab` is the command `auclab`."""

from auclab.cli.main import main

if __name__ == "__main__":
    main()

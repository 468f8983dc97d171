"""`python -m choreograph`: the command line."""

from choreograph.cli.main import main

if __name__ == "__main__":
    main()

"""`python -m choreograph`: the command line, where no script of that name is on the path."""

from choreograph.cli.main import main

if __name__ == "__main__":
    main()

"""The command line: one module per verb, each a thin coat over the library's functions."""

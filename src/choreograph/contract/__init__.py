"""What every verb is made of: a Request, a Search, a Result, and the Verb that names them.

The faces (command line, studio, notebook, documentation) are drawn from these; a verb is written once, in its own room.
"""

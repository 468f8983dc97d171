"""New motion from a motion graph: what is asked for, how it is searched, the walk that answers it."""

"""The registry of verbs: the faces are made by walking it."""

"""Verbs that change a given motion, each in a room of its own."""

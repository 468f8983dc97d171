"""The mannequin that a skeleton wears: one mesh with skin weights, the same in files, films and on the stage."""

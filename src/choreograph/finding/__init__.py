"""Finding places in recordings: by words, by example, by how fast, how much turned and on which foot."""

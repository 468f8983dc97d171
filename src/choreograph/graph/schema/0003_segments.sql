-- Recordings cut into segments, for motion controlled by example: a row for each way in which they were cut.
CREATE TABLE segment_base (
    id INTEGER PRIMARY KEY,
    settings TEXT NOT NULL,     -- JSON: which clips lead which, how they were cut, by which points they are compared
    clips TEXT NOT NULL,        -- fingerprint of the clips that it was made of
    UNIQUE (settings)
);
CREATE TABLE segment_array (
    base INTEGER NOT NULL REFERENCES segment_base (id), name TEXT NOT NULL,
    dtype TEXT NOT NULL, shape TEXT NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (base, name)
);

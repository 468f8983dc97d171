-- Where clips can be cut into each other, from coarse to fine, and the frames as they are compared for that.

CREATE TABLE hierarchy (
    id INTEGER PRIMARY KEY,
    clips TEXT NOT NULL,        -- fingerprint of the clips and settings that it was found for
    facts TEXT NOT NULL         -- JSON: version of the method, settings, tau, roots, groups
);
CREATE TABLE hierarchy_array (
    hierarchy INTEGER NOT NULL REFERENCES hierarchy (id), name TEXT NOT NULL,
    dtype TEXT NOT NULL, shape TEXT NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (hierarchy, name)
);

-- Clips as they came, what was compared, and the graph that came of it.
-- An array is a blob with its NumPy dtype, its shape as "3,4" and the CRC-32 of its bytes.

CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, package_version TEXT NOT NULL);

CREATE TABLE skeleton (
    id INTEGER PRIMARY KEY,
    names TEXT NOT NULL,        -- JSON list
    roles TEXT NOT NULL,        -- JSON list
    axis_orders TEXT            -- JSON list, where the source file had axes
);
CREATE TABLE skeleton_array (
    skeleton INTEGER NOT NULL REFERENCES skeleton (id), name TEXT NOT NULL,
    dtype TEXT NOT NULL, shape TEXT NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (skeleton, name)
);

CREATE TABLE clip (
    id INTEGER PRIMARY KEY,     -- from 0, the number that graph arrays use
    name TEXT NOT NULL UNIQUE,
    fps REAL NOT NULL,
    own_frames INTEGER NOT NULL,    -- at fps
    frames INTEGER NOT NULL,        -- at the graph's rate
    skeleton INTEGER NOT NULL REFERENCES skeleton (id),
    mirror_of INTEGER REFERENCES clip (id),     -- a mirrored copy keeps no arrays of its own
    source TEXT                 -- JSON: path, format, sha256, units, notes
);
CREATE TABLE clip_array (
    clip INTEGER NOT NULL REFERENCES clip (id), name TEXT NOT NULL,
    dtype TEXT NOT NULL, shape TEXT NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (clip, name)
);
CREATE TABLE label (
    clip INTEGER NOT NULL REFERENCES clip (id), position INTEGER NOT NULL,
    text TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,      -- frames [start, stop) at the clip's fps
    PRIMARY KEY (clip, position)
);

-- Minima, nodes and edges by column. Nodes and edges are the largest strongly connected component.
CREATE TABLE graph_array (
    part TEXT NOT NULL, name TEXT NOT NULL,
    dtype TEXT NOT NULL, shape TEXT NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (part, name)
);

CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);      -- JSON values: what was asked for
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);         -- JSON values: what came of it
CREATE TABLE provenance (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, command TEXT NOT NULL, package_version TEXT NOT NULL,
    evaluated_share REAL NOT NULL       -- of the window pairs to be compared, those whose distance had to be computed
);

-- A file keeps what somebody recorded or chose. What can be computed from that is in a cache of its own:
-- hierarchies and segments leave the file; who leads whom, and how recordings are cut for performing, stays.

DROP TABLE hierarchy_array;
DROP TABLE hierarchy;
DROP TABLE segment_array;
DROP TABLE segment_base;

CREATE TABLE pair (
    position INTEGER PRIMARY KEY,
    leader INTEGER NOT NULL REFERENCES clip (id),
    follower INTEGER NOT NULL REFERENCES clip (id)
);
CREATE TABLE cut_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);      -- JSON values

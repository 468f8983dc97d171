-- Long columns of graph_array in chunks: there, data is then empty, and crc32 is that of all chunks together. The setting
-- nearest. Earlier files have neither, and are read without.
CREATE TABLE graph_chunk (
    part TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL,     -- from 0
    crc32 INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (part, name, position)
);

-- Rows of keyed hashes get numbers that stay, through VACUUM as well: what is sorted names them.
CREATE TABLE audit_token_numbered (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    request BLOB NOT NULL,
    time INTEGER NOT NULL,
    tokens BLOB NOT NULL,
    UNIQUE (account, request)
);
INSERT INTO audit_token_numbered SELECT rowid, account, request, time, tokens FROM audit_token ORDER BY rowid;
DROP TABLE audit_token;
ALTER TABLE audit_token_numbered RENAME TO audit_token;

-- Rows whose hashes were sorted later, thousands at a time: numbers, and the time of the newest. A stale segment has
-- lost rows and is sorted again.
CREATE TABLE audit_token_segment (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    stale INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX audit_token_segment_stale ON audit_token_segment (first) WHERE stale = 1;
-- The hashes of a segment, in 256 buckets. A place is the bucket times 2^48, and the segment's first row: so what has to
-- be read for one hash lies together.
CREATE TABLE audit_token_sorted (
    place INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
);

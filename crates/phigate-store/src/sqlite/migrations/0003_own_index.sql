-- Tables that are found by their key alone are their own index: each row then costs one tree instead of two. These are
-- the tables that every record and every request under way add to.
CREATE TABLE audit_chain_sorted (
    account TEXT NOT NULL,
    lane INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    record BLOB NOT NULL,
    time INTEGER NOT NULL,
    leaf BLOB NOT NULL,
    digest BLOB NOT NULL,
    mac BLOB NOT NULL,
    signature BLOB,
    PRIMARY KEY (account, lane, seq)
) WITHOUT ROWID;
INSERT INTO audit_chain_sorted
    SELECT account, lane, seq, record, time, leaf, digest, mac, signature FROM audit_chain ORDER BY account, lane, seq;
DROP TABLE audit_chain;
ALTER TABLE audit_chain_sorted RENAME TO audit_chain;

-- Keyed hashes of identifiers: sixteen bytes each, all of a request in one row. Hashes are spread evenly, so a row for
-- each would write a page of its own for every finding; they are looked up rarely, and then all rows are read.
CREATE TABLE audit_token_joined (
    account TEXT NOT NULL,
    request BLOB NOT NULL,
    time INTEGER NOT NULL,
    tokens BLOB NOT NULL,
    PRIMARY KEY (account, request)
) WITHOUT ROWID;
INSERT INTO audit_token_joined
    SELECT account, request, max(time), CAST(group_concat(token, '') AS BLOB) FROM audit_token GROUP BY account, request;
DROP TABLE audit_token;
ALTER TABLE audit_token_joined RENAME TO audit_token;

CREATE TABLE open_request_sorted (
    account TEXT NOT NULL,
    request BLOB NOT NULL,
    time INTEGER NOT NULL,
    instance BLOB NOT NULL,
    PRIMARY KEY (account, request)
) WITHOUT ROWID;
INSERT INTO open_request_sorted SELECT account, request, time, instance FROM open_request;
DROP TABLE open_request;
ALTER TABLE open_request_sorted RENAME TO open_request;

-- Keyed hashes of identifiers: sixteen bytes each, all of a request in one row. Hashes are spread evenly, so a row for
-- each would write a page of its own for every finding; they are looked up rarely, and then all rows are read.
CREATE TABLE audit_token_joined (
    account TEXT NOT NULL,
    request BLOB NOT NULL,
    time INTEGER NOT NULL,
    tokens BLOB NOT NULL,
    PRIMARY KEY (account, request)
);
INSERT INTO audit_token_joined
    SELECT account, request, max(time), CAST(group_concat(token, '') AS BLOB) FROM audit_token GROUP BY account, request;
DROP TABLE audit_token;
ALTER TABLE audit_token_joined RENAME TO audit_token;

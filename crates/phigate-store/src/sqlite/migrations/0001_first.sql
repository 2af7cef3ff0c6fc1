-- Accounts, keys, users, leases, wrapped data keys: small documents.
CREATE TABLE item (
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    lookup TEXT,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, kind, id)
);
-- No partial indexes: SQLite prepares every statement that could use one anew for each value bound.
CREATE UNIQUE INDEX item_lookup ON item (kind, lookup);
CREATE INDEX item_kind ON item (kind, account, id);

-- Grows with every change of settings; requests compare it with what they remember.
CREATE TABLE generation (one INTEGER PRIMARY KEY CHECK (one = 1), value INTEGER NOT NULL);
INSERT INTO generation (one, value) VALUES (1, 1);

-- The trail. Every index costs each request, so there are few, and small tables are their own index. Times are microseconds since 1970, ids are the sixteen bytes of a UUID.
CREATE TABLE audit_record (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    time INTEGER NOT NULL,
    id BLOB NOT NULL,
    kind INTEGER NOT NULL,
    request BLOB,
    key_id TEXT,
    mode TEXT,
    action TEXT,
    model TEXT,
    types TEXT,
    act TEXT,
    lane INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL
);
-- Holds every column a search can name, so that rows are fetched only when they match.
CREATE INDEX audit_record_search ON audit_record (account, time, id, kind, action, mode, key_id, model, types, act);
CREATE INDEX audit_record_request ON audit_record (account, request);

-- What ties the records together; stays when a record is deleted.
CREATE TABLE audit_chain (
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
);

-- Sealed content of decisions, under the number of the record.
CREATE TABLE audit_content (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    time INTEGER NOT NULL,
    original BLOB,
    sent BLOB
);
CREATE INDEX audit_content_time ON audit_content (account, time);

-- Keyed hashes of identifiers, for disclosure lookup.
CREATE TABLE audit_token (
    account TEXT NOT NULL,
    token BLOB NOT NULL,
    time INTEGER NOT NULL,
    request BLOB NOT NULL,
    PRIMARY KEY (account, token, time, request)
);
CREATE INDEX audit_token_request ON audit_token (account, request);

-- Counts by hour, kept with the records.
CREATE TABLE audit_counter (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (account, hour, lane, name)
);

-- Requests that have a decision and no outcome yet.
CREATE TABLE open_request (
    account TEXT NOT NULL,
    request BLOB NOT NULL,
    time INTEGER NOT NULL,
    instance BLOB NOT NULL,
    PRIMARY KEY (account, request)
);

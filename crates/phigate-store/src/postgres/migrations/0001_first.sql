-- The same tables as in SQLite. Records and content are partitioned by month, so that old months
-- can be dropped; the account leads every key, so that the schema can be spread over machines.
CREATE TABLE item (
    account text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    lookup text,
    version bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (account, kind, id)
);
CREATE UNIQUE INDEX item_lookup ON item (kind, lookup) WHERE lookup IS NOT NULL;
CREATE INDEX item_kind ON item (kind, account, id);

CREATE TABLE generation (one integer PRIMARY KEY CHECK (one = 1), value bigint NOT NULL);
INSERT INTO generation (one, value) VALUES (1, 1);

-- The key carries every column a search can name, so that a search reads the index alone.
CREATE TABLE audit_record (
    account text COLLATE "C" NOT NULL,
    time bigint NOT NULL,
    id uuid NOT NULL,
    kind smallint NOT NULL,
    request uuid,
    key_id text COLLATE "C",
    mode text COLLATE "C",
    action text COLLATE "C",
    model text COLLATE "C",
    types text COLLATE "C",
    act text COLLATE "C",
    lane bigint NOT NULL,
    seq bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (account, time, id) INCLUDE (kind, request, key_id, mode, action, model, types, act)
) PARTITION BY RANGE (time);
CREATE INDEX audit_record_request ON audit_record (account, request) WHERE request IS NOT NULL;
CREATE TABLE audit_record_default PARTITION OF audit_record DEFAULT;

CREATE TABLE audit_chain (
    account text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    seq bigint NOT NULL,
    record uuid NOT NULL,
    time bigint NOT NULL,
    leaf bytea NOT NULL,
    digest bytea NOT NULL,
    mac bytea NOT NULL,
    signature bytea,
    PRIMARY KEY (account, lane, seq)
);

CREATE TABLE audit_content (
    account text COLLATE "C" NOT NULL,
    record uuid NOT NULL,
    time bigint NOT NULL,
    original bytea,
    sent bytea,
    PRIMARY KEY (account, time, record)
) PARTITION BY RANGE (time);
-- Sealed bytes do not compress.
ALTER TABLE audit_content ALTER COLUMN original SET STORAGE EXTERNAL, ALTER COLUMN sent SET STORAGE EXTERNAL;
CREATE TABLE audit_content_default PARTITION OF audit_content DEFAULT;

CREATE TABLE audit_token (
    account text COLLATE "C" NOT NULL,
    token bytea NOT NULL,
    time bigint NOT NULL,
    request uuid NOT NULL,
    PRIMARY KEY (account, token, time, request)
);
CREATE INDEX audit_token_request ON audit_token (account, request);

CREATE TABLE audit_counter (
    account text COLLATE "C" NOT NULL,
    hour bigint NOT NULL,
    lane bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (account, hour, lane, name)
);

CREATE TABLE open_request (
    account text COLLATE "C" NOT NULL,
    request uuid NOT NULL,
    time bigint NOT NULL,
    instance uuid NOT NULL,
    PRIMARY KEY (account, request)
);

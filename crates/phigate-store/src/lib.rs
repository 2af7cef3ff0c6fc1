//! Remembers: accounts, keys, settings and the sealed audit trail, in SQLite or PostgreSQL.

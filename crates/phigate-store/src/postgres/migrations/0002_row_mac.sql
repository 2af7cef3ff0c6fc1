-- Keyed hash of a row that decides who may do what; older rows get theirs at the first start.
ALTER TABLE item ADD COLUMN mac bytea;

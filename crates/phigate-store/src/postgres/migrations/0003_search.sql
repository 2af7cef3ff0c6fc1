-- Which hours have something of a name. Counts are not in it, so adding to one leaves it alone.
CREATE INDEX audit_counter_name ON audit_counter (account, name, hour);
-- Acts are few among the records of requests, which have no entry here. A search that says `kind = 3` uses it.
CREATE INDEX audit_record_act ON audit_record (account, time, id, kind, act) WHERE kind = 3;

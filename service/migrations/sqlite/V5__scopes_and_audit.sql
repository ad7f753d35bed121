-- What admin tokens may do, and the audit log.

-- JSON: a list of scopes. Tokens of before could do everything.
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT '["admin"]';
-- JSON: a list of the only experiences; NULL for all.
ALTER TABLE tokens ADD COLUMN experience_ids TEXT;
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;

-- Rows are only added, and numbered without gaps. `hash` chains them: it covers the row
-- before, and of the values that were changed a digest. The values (`changes`), and the salt of
-- their digest, can be erased.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    name    TEXT,
    address TEXT NOT NULL,
    action  TEXT NOT NULL,
    object  TEXT NOT NULL,
    digest  BLOB NOT NULL,
    hash    BLOB NOT NULL,
    salt    BLOB,
    changes TEXT
);

CREATE INDEX audit_by_object ON audit (object, id);

-- Where the chain begins and ends: the last row that was removed because of its age, and the
-- newest one. One row.
CREATE TABLE audit_ends (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    anchor      INTEGER NOT NULL,
    anchor_hash BLOB NOT NULL,
    head        INTEGER NOT NULL,
    head_hash   BLOB NOT NULL
);

-- What admin tokens may do, and the audit log.

-- JSON: a list of scopes. Tokens of before could do everything.
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT '["admin"]';
-- JSON: a list of the only experiences; NULL for all.
ALTER TABLE tokens ADD COLUMN experience_ids TEXT;
ALTER TABLE tokens ADD COLUMN expires_at BIGINT;
ALTER TABLE tokens ADD COLUMN last_used_at BIGINT;

-- Rows are only added, and numbered without gaps. `hash` chains them: it covers the row
-- before, and of the values that were changed a digest. The values (`changes`), and the salt of
-- their digest, can be erased.
CREATE TABLE audit (
    id      BIGINT PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT NOT NULL,
    name    TEXT,
    address TEXT NOT NULL,
    action  TEXT NOT NULL,
    object  TEXT COLLATE "C" NOT NULL,
    digest  BYTEA NOT NULL,
    hash    BYTEA NOT NULL,
    salt    BYTEA,
    changes TEXT
);

CREATE INDEX audit_by_object ON audit (object, id);

-- Where the chain begins and ends: the last row that was removed because of its age, and the
-- newest one. One row.
CREATE TABLE audit_ends (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    anchor      BIGINT NOT NULL,
    anchor_hash BYTEA NOT NULL,
    head        BIGINT NOT NULL,
    head_hash   BYTEA NOT NULL
);

-- Roots that keys of encoded chips are derived from. Only one makes new keys; the others open
-- the chips that they were used for.
CREATE TABLE encoding_roots (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    key          BLOB NOT NULL,     -- wrapped
    key_print    BLOB NOT NULL,     -- fingerprint
    created_at   INTEGER NOT NULL,
    retired_at   INTEGER,           -- NULL: makes new keys
    backed_up_at INTEGER            -- the first backup that has it and the key that wraps it
);

-- How often a chip was asked for keys that it does not have.
CREATE TABLE chips (
    uid       BLOB PRIMARY KEY,
    confirmed INTEGER,              -- the generation whose key 0 opened it last
    refusals  INTEGER NOT NULL,     -- since it was last opened
    torn      INTEGER NOT NULL,     -- authentications in a row of which the end is not known
    refused   TEXT NOT NULL         -- JSON: the keys that it does not have
) WITHOUT ROWID;

-- Every key that was ever sent to a chip, or may have been. Rows are never removed.
CREATE TABLE chip_keys (
    uid        BLOB NOT NULL,
    generation INTEGER NOT NULL,    -- the version with which its five keys are written
    slot       INTEGER NOT NULL,
    state      TEXT NOT NULL,
    root_id    INTEGER,             -- derived from it
    key        BLOB,                -- wrapped; NULL: derived
    PRIMARY KEY (uid, generation, slot)
) WITHOUT ROWID;

CREATE TABLE encoding_runs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    settings   TEXT NOT NULL,       -- JSON
    planned    INTEGER,
    created_at INTEGER NOT NULL,
    closed_at  INTEGER
);

-- The tags of a run, in the order in which their inlays are laid down.
CREATE TABLE encoding_run_tags (
    run_id   INTEGER NOT NULL,
    position INTEGER NOT NULL,      -- from 1
    tag_id   INTEGER NOT NULL,
    uid      BLOB,                  -- the chip that it is reserved for
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX encoding_run_tags_tag ON encoding_run_tags (run_id, tag_id);

CREATE TABLE encodings (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    uid        BLOB NOT NULL,
    run_id     INTEGER,
    tag_id     INTEGER,             -- NULL: to be as it left the factory
    form       TEXT,                -- JSON: what is written
    generation INTEGER,
    state      TEXT NOT NULL,
    reason     TEXT,
    seq        INTEGER NOT NULL,    -- the number of its turn
    progress   BLOB,                -- wrapped: session and commands of the turn
    outcome    TEXT,                -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX encodings_uid ON encodings (uid);
CREATE INDEX encodings_run ON encodings (run_id) WHERE run_id IS NOT NULL;

-- Names and statuses of the commands of an encoding, never data.
CREATE TABLE encoding_exchanges (
    encoding_id INTEGER NOT NULL,
    number      INTEGER NOT NULL,   -- from 1
    at          INTEGER NOT NULL,
    name        TEXT NOT NULL,
    status      INTEGER,            -- NULL: no answer came
    PRIMARY KEY (encoding_id, number)
) WITHOUT ROWID;

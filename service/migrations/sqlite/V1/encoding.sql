-- Encoded chips: their keys, encoding runs, factory orders, and encodings.

-- Roots from which keys of encoded chips are derived. Only one derives new keys; the others open the chips that they
-- were used for.
CREATE TABLE encoding_roots (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    key            BLOB NOT NULL, -- wrapped
    key_print      BLOB NOT NULL, -- fingerprint
    created_at     INTEGER NOT NULL,
    retired_at     INTEGER,       -- NULL: derives new keys
    backed_up_at   INTEGER,       -- the first backup that has it and its wrapping key
    compromised_at INTEGER        -- others may know it since then: its chips get other keys when they are encoded again
);

-- How often a chip was asked for keys that it does not have.
CREATE TABLE chips (
    uid       BLOB PRIMARY KEY,
    confirmed INTEGER,          -- the generation whose key 0 last opened it
    refusals  INTEGER NOT NULL, -- since it was last opened
    torn      INTEGER NOT NULL, -- consecutive authentications without a known result
    refused   TEXT NOT NULL,    -- JSON: the keys that it does not have
    -- A bureau wrote the keys of this generation, perhaps with other versions; NULL: none, or replaced.
    bureau    INTEGER
) WITHOUT ROWID;

-- Every key that was ever sent to a chip, or may have been. Rows are never removed.
CREATE TABLE chip_keys (
    uid        BLOB NOT NULL,
    generation INTEGER NOT NULL, -- the version of its five keys
    slot       INTEGER NOT NULL,
    state      TEXT NOT NULL,
    root_id    INTEGER,          -- the key is derived from it
    key        BLOB,             -- wrapped; NULL: derived
    PRIMARY KEY (uid, generation, slot)
) WITHOUT ROWID;

CREATE TABLE encoding_runs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT NOT NULL,
    settings        TEXT NOT NULL,             -- JSON
    planned         INTEGER,
    created_at      INTEGER NOT NULL,
    closed_at       INTEGER,
    -- Variables that its tags got because the page of their experience writes them.
    variables_added INTEGER NOT NULL DEFAULT 0
);

-- The tags of a run, in the order in which their inlays are encoded.
CREATE TABLE encoding_run_tags (
    run_id     INTEGER NOT NULL,
    position   INTEGER NOT NULL, -- from 1
    tag_id     INTEGER NOT NULL,
    uid        BLOB,             -- the chip that it is reserved for
    skipped_at INTEGER,          -- since then it comes last
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX encoding_run_tags_tag ON encoding_run_tags (run_id, tag_id);

-- Orders of chips that a bureau encodes.
CREATE TABLE factory_orders (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL,
    settings    TEXT NOT NULL, -- JSON
    created_at  INTEGER NOT NULL,
    exported_at INTEGER        -- when its keys were first exported
);

-- The tags of an order, in their order, and the chips that came back.
CREATE TABLE factory_order_positions (
    order_id    INTEGER NOT NULL,
    position    INTEGER NOT NULL, -- from 1
    tag_id      INTEGER NOT NULL,
    uid         BLOB,             -- NULL: it has not come back yet
    received_at INTEGER,
    PRIMARY KEY (order_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX factory_order_positions_tag ON factory_order_positions (order_id, tag_id);
CREATE INDEX factory_order_positions_uid ON factory_order_positions (uid) WHERE uid IS NOT NULL;

-- Five keys for each position. They are stored before they are exported, and used for one chip.
CREATE TABLE factory_order_keys (
    order_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    slot     INTEGER NOT NULL,
    key      BLOB NOT NULL, -- wrapped
    PRIMARY KEY (order_id, position, slot)
) WITHOUT ROWID;

CREATE TABLE encodings (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    uid        BLOB NOT NULL,
    run_id     INTEGER,
    tag_id     INTEGER,          -- NULL: resets the chip
    form       TEXT,             -- JSON: the data to write
    generation INTEGER,
    state      TEXT NOT NULL,
    reason     TEXT,
    seq        INTEGER NOT NULL, -- the number of its turn
    progress   BLOB,             -- wrapped: session and commands of the turn
    outcome    TEXT,             -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    token_id   INTEGER           -- the token that began it, whose open encodings are limited
);
CREATE INDEX encodings_uid ON encodings (uid);
CREATE INDEX encodings_run ON encodings (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX encodings_unproved ON encodings (token_id, created_at) WHERE state NOT IN ('verified', 'reset');

-- The names and statuses of the commands of an encoding, never data.
CREATE TABLE encoding_exchanges (
    encoding_id INTEGER NOT NULL,
    number      INTEGER NOT NULL, -- from 1
    at          INTEGER NOT NULL,
    name        TEXT NOT NULL,
    status      INTEGER,          -- NULL: no answer came
    PRIMARY KEY (encoding_id, number)
) WITHOUT ROWID;

-- Test sheets, and imports that are stored all or none.

CREATE TABLE sheets (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    expected   TEXT NOT NULL, -- JSON
    planned    INTEGER,
    created_at INTEGER NOT NULL,
    closed_at  INTEGER,
    signed_off TEXT -- JSON; NULL: its rows may change
);

CREATE TABLE sheet_rows (
    sheet_id INTEGER NOT NULL,
    position INTEGER NOT NULL, -- from 1
    at       INTEGER NOT NULL,
    row      TEXT NOT NULL,    -- JSON
    recorder TEXT,             -- JSON; NULL: the service
    PRIMARY KEY (sheet_id, position)
) WITHOUT ROWID;

-- Photos of rows. The bytes are last, because lists of rows read the other columns.
CREATE TABLE sheet_photos (
    sheet_id   INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    digest     TEXT NOT NULL, -- SHA-256 of the bytes, in hexadecimal
    bytes      BLOB NOT NULL,
    PRIMARY KEY (sheet_id, position)
);

-- Imports that are stored all or none. Rows are set aside one after the other, decided at once, and then become tags
-- one after the other: a row is here or a tag. Its slug and UID are reserved meanwhile.
CREATE TABLE imports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    state      TEXT NOT NULL, -- staging, decided, given_up
    touched_at INTEGER NOT NULL
);

CREATE TABLE import_rows (
    import_id       INTEGER NOT NULL,
    position        INTEGER NOT NULL, -- from 0
    slug            TEXT UNIQUE,      -- of a new tag; NULL: changes tag_id
    uid             BLOB UNIQUE,      -- of a new inlay
    tag_id          INTEGER,
    experience_id   INTEGER,
    group_id        INTEGER,
    master_key_id   INTEGER,
    url_template_id INTEGER,
    row             TEXT NOT NULL,    -- JSON
    inlay           TEXT,             -- JSON; its keys are wrapped
    PRIMARY KEY (import_id, position)
) WITHOUT ROWID;
CREATE INDEX import_rows_experience ON import_rows (experience_id) WHERE experience_id IS NOT NULL;
CREATE INDEX import_rows_group ON import_rows (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX import_rows_master_key ON import_rows (master_key_id) WHERE master_key_id IS NOT NULL;
CREATE INDEX import_rows_url_template ON import_rows (url_template_id) WHERE url_template_id IS NOT NULL;

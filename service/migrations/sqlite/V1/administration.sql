-- The installation: its secrets, settings, tokens, staff phones, and the audit log.
--
-- Times are milliseconds since the Unix epoch. Texts of enumerations are the names that the API uses. There are no
-- foreign keys: the operation that writes a reference checks it.

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL -- JSON
) WITHOUT ROWID;

-- The logo of plain pages. It has one row at most.
CREATE TABLE page_logo (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    media_type TEXT NOT NULL,
    digest     TEXT NOT NULL, -- SHA-256 of the bytes, in hexadecimal
    created_at INTEGER NOT NULL,
    bytes      BLOB NOT NULL
);

CREATE TABLE tokens (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL,
    hash           BLOB NOT NULL UNIQUE,
    created_at     INTEGER NOT NULL,
    scopes         TEXT NOT NULL, -- JSON: a list of scopes
    experience_ids TEXT,          -- JSON: a list of the only experiences; NULL: all
    group_ids      TEXT,          -- JSON: a list of the only groups; NULL: all
    expires_at     INTEGER,
    last_used_at   INTEGER
);

-- Staff phones. A code or a secret is stored as its hash.
CREATE TABLE phones (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    scopes       TEXT NOT NULL, -- JSON: a list of scopes
    group_ids    TEXT,          -- JSON: a list of the only groups; NULL: all
    expires_at   INTEGER,
    pair_hash    BLOB UNIQUE, -- of the code that pairs the phone at a host; NULL: none is left
    pair_until   INTEGER,      -- when that code expires
    cookies      TEXT NOT NULL, -- JSON: the hash of its secret at each host
    paired_at    INTEGER,
    last_used_at INTEGER
);

-- Rows are only appended, and numbered without gaps. `hash` chains them: it covers the row before, and a digest of
-- the changed values. The values (`changes`) and the salt of their digest can be erased; the chain stays whole.
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

-- The ends of the chain: the last row that was removed because of its age, and the newest one. It has one row.
CREATE TABLE audit_ends (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    anchor      INTEGER NOT NULL,
    anchor_hash BLOB NOT NULL,
    head        INTEGER NOT NULL,
    head_hash   BLOB NOT NULL
);

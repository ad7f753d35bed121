-- Times are milliseconds since the Unix epoch. Texts of enumerations are the
-- names the API uses. No foreign keys: every reference is checked inside the
-- operation that writes it.

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL             -- JSON
) WITHOUT ROWID;

CREATE TABLE tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL
);

CREATE TABLE tags (
    id                       INTEGER PRIMARY KEY AUTOINCREMENT,
    slug                     TEXT NOT NULL UNIQUE,
    name                     TEXT NOT NULL,
    title                    TEXT NOT NULL,
    description              TEXT NOT NULL,
    language_code            TEXT NOT NULL,
    status                   TEXT NOT NULL,
    experience_id            INTEGER,
    verifier_enabled         INTEGER NOT NULL,
    updates_require_verified INTEGER NOT NULL,
    track_location           INTEGER NOT NULL,
    has_qr_code              INTEGER NOT NULL,
    simulated                INTEGER NOT NULL,
    location                 TEXT,          -- JSON
    widget_settings          TEXT NOT NULL, -- JSON
    created_at               INTEGER NOT NULL,
    updated_at               INTEGER NOT NULL,
    deleted_at               INTEGER
);
-- Slugs that a tag had before. They stay its own, and go on answering as the tag.
CREATE TABLE former_slugs (
    slug        TEXT PRIMARY KEY,
    tag_id      INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX former_slugs_tag ON former_slugs (tag_id);

CREATE INDEX tags_experience ON tags (experience_id, deleted_at) WHERE experience_id IS NOT NULL;

-- Lists walk these in their order and filter by what they carry, so that a
-- filter that finds little reads no row of the table in vain.
CREATE INDEX tags_by_id ON tags (id, simulated, status, verifier_enabled, experience_id)
    WHERE deleted_at IS NULL;
CREATE INDEX tags_by_name ON tags (name COLLATE NOCASE, id, simulated, status, verifier_enabled, experience_id)
    WHERE deleted_at IS NULL;
CREATE INDEX tags_deleted ON tags (id, simulated, status, verifier_enabled, experience_id)
    WHERE deleted_at IS NOT NULL;

-- Which tags hold all three-letter pieces of a text (former slugs stand behind the slug): a search's candidates. It
-- keeps no text itself; whether they hold the text is looked up in tags. The
-- operations that write tags keep it: triggers would make every row a
-- statement of its own, which is several times dearer here.
CREATE VIRTUAL TABLE tags_search USING fts5 (
    name, slug, title, tokenize = 'trigram', content = '', contentless_delete = 1, detail = none
);

CREATE TABLE properties (
    tag_id INTEGER NOT NULL,
    class  TEXT NOT NULL,           -- attribute, data, variable
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (tag_id, class, key)
) WITHOUT ROWID;

CREATE TABLE master_keys (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    key        BLOB NOT NULL,  -- wrapped
    key_print  BLOB NOT NULL,  -- fingerprint
    derivation TEXT NOT NULL,  -- JSON: how an inlay's keys follow from it
    created_at INTEGER NOT NULL
);

-- How batches of inlays write their URLs.
CREATE TABLE url_templates (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    settings   TEXT NOT NULL   -- JSON: what decides a MAC
);

-- Shared meta keys, by which codes of a template are opened.
CREATE TABLE url_template_keys (
    url_template_id INTEGER NOT NULL,
    key_print       BLOB NOT NULL,
    key             BLOB,      -- wrapped; NULL: that of the master key
    master_key_id   INTEGER,
    position        INTEGER NOT NULL, -- in their order
    PRIMARY KEY (url_template_id, key_print)
) WITHOUT ROWID;
CREATE INDEX url_template_keys_master_key ON url_template_keys (master_key_id) WHERE master_key_id IS NOT NULL;

CREATE TABLE inlays (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    uid             BLOB NOT NULL UNIQUE,
    technology      TEXT NOT NULL,
    mode            TEXT NOT NULL DEFAULT 'aes',
    url_template_id INTEGER,        -- NULL: the canonical form
    tag_id          INTEGER,
    mirror          TEXT,           -- of the canonical form; NULL: makes no such codes
    mac_from        TEXT NOT NULL,
    master_key_id   INTEGER,        -- NULL: keys of its own
    meta_key        BLOB,           -- wrapped; of a master key only if deriving it takes long
    file_key        BLOB,           -- wrapped; as the meta key
    meta_key_print  BLOB,           -- fingerprint
    file_key_print  BLOB,           -- fingerprint; NULL: no keys
    factory_keys    INTEGER NOT NULL,
    simulated       INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER         -- kept: its counter must outlive it
);
CREATE INDEX inlays_tag ON inlays (tag_id) WHERE tag_id IS NOT NULL;
CREATE INDEX inlays_master_key ON inlays (master_key_id) WHERE master_key_id IS NOT NULL;
CREATE INDEX inlays_url_template ON inlays (url_template_id) WHERE url_template_id IS NOT NULL;

-- A tap appends its interaction; what follows from it is folded behind, into counters,
-- visits and tap_counts. A row has every tap of its key up to folded_to, in the order of
-- commits, and no later one.
CREATE TABLE folded (
    up_to INTEGER NOT NULL,         -- what follows from interactions up to this id is in the rows
    seq   INTEGER NOT NULL          -- the last place in the order of commits when it was noted
);
INSERT INTO folded (up_to, seq) VALUES (0, 0);

-- Apart from inlays, because taps are folded here: small rows, few pages.
CREATE TABLE counters (
    inlay_id    INTEGER PRIMARY KEY,
    key_version INTEGER NOT NULL,   -- counts the replacements of the keys, from 1
    last        INTEGER NOT NULL,   -- highest accepted, 0 for none
    seen        INTEGER NOT NULL,   -- bit i: last - i was accepted
    folded_to   INTEGER NOT NULL DEFAULT 0,
    risen_on    INTEGER NOT NULL DEFAULT 0, -- without a MAC: the day of the last rise, since the Unix epoch
    risen       INTEGER NOT NULL DEFAULT 0 -- without a MAC: by how much it rose on that day
);

-- Counters under the keys that an inlay had before: a code that was spent under
-- them stays spent when they come back.
CREATE TABLE former_counters (
    inlay_id       INTEGER NOT NULL,
    file_key_print BLOB NOT NULL,
    meta_key_print BLOB NOT NULL,   -- empty for none
    last           INTEGER NOT NULL,
    seen           INTEGER NOT NULL,
    PRIMARY KEY (inlay_id, file_key_print, meta_key_print)
) WITHOUT ROWID;

-- The simulator's inlays: the chip's side of things.
CREATE TABLE virtual_inlays (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    inlay_id   INTEGER NOT NULL UNIQUE,
    counter    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE experiences (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL,       -- the name in one case: what a search looks into
    kind       TEXT NOT NULL,
    draft      TEXT NOT NULL,       -- JSON
    published  INTEGER,             -- version; NULL: never published
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
);

-- Versions never change: a repeated answer is made from the version of its tap.
CREATE TABLE experience_versions (
    experience_id INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    name          TEXT NOT NULL,
    content       TEXT NOT NULL,    -- JSON
    published_at  INTEGER NOT NULL,
    PRIMARY KEY (experience_id, version)
) WITHOUT ROWID;

CREATE TABLE images (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    experience_id INTEGER NOT NULL,
    media_type    TEXT NOT NULL,
    bytes         BLOB NOT NULL,
    created_at    INTEGER NOT NULL
);
CREATE INDEX images_experience ON images (experience_id);

-- The history has one index beside its key, by which what is due is found: new
-- rows come at its end. Each row names the one of its tag that was committed before it, so a
-- tag's history is walked as a chain from visits.last_interaction.
CREATE TABLE interactions (
    id                 INTEGER PRIMARY KEY,
    at                 INTEGER NOT NULL,
    tag_id             INTEGER NOT NULL,
    previous           INTEGER,
    inlay_id           INTEGER,
    uid                BLOB,        -- named by a code of no inlay of the tag
    reason             TEXT NOT NULL,
    counter            INTEGER,
    last_counter       INTEGER,
    tech               TEXT NOT NULL,
    experience_id      INTEGER,
    experience_version INTEGER,
    client             BLOB,        -- NULL: erased
    country            TEXT NOT NULL,
    returning_month    INTEGER NOT NULL,
    returning_day      INTEGER NOT NULL,
    key_issued         INTEGER NOT NULL,
    simulated          INTEGER NOT NULL,
    tamper             TEXT,        -- NULL: the inlay has no tamper loop
    file_data          BLOB,        -- decrypted
    seq                INTEGER NOT NULL DEFAULT 0 -- place in the order of commits; ids are reserved before
);
CREATE INDEX interactions_at ON interactions (at);

-- Keys' rows live as long as the keys.
CREATE TABLE rolling_keys (
    interaction_id INTEGER PRIMARY KEY,
    hash           BLOB NOT NULL,   -- SHA-256
    url_digest     BLOB NOT NULL,
    issued_at      INTEGER NOT NULL,
    consumed_at    INTEGER,
    request        BLOB             -- digest of Idempotency-Key and body
);
CREATE INDEX rolling_keys_issued_at ON rolling_keys (issued_at);

-- Successful updates, for the trace.
CREATE TABLE updates (
    interaction_id INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    changes        TEXT NOT NULL    -- JSON
);

-- The last update with each key that was refused though the key was good, for
-- the trace; written behind.
CREATE TABLE refused_updates (
    interaction_id INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    fault          TEXT NOT NULL,   -- unknown_variable, not_assigned, not_verified
    variable       TEXT             -- the one that the tag lacked
);

-- Payload reads, for the trace; written behind.
CREATE TABLE payload_reads (
    interaction_id INTEGER PRIMARY KEY,
    first_at       INTEGER NOT NULL,
    reads          INTEGER NOT NULL
);

-- What redirects had no room for, or no URL without, for the trace.
CREATE TABLE left_out (
    interaction_id INTEGER PRIMARY KEY,
    macros         TEXT NOT NULL    -- JSON: the names of macros
);

-- Who came to a tag. The row with the empty client stands for all of them
-- together; it lies beside the others, so that both are one page.
CREATE TABLE visits (
    tag_id           INTEGER NOT NULL,
    client           BLOB NOT NULL,
    scans            INTEGER NOT NULL,
    last_at          INTEGER NOT NULL,
    last_interaction INTEGER NOT NULL,
    folded_to        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tag_id, client)
) WITHOUT ROWID;

-- Taps by hour and reason, for the overview.
CREATE TABLE tap_counts (
    hour      INTEGER NOT NULL,     -- hours since the Unix epoch
    reason    TEXT NOT NULL,
    simulated INTEGER NOT NULL,
    taps      INTEGER NOT NULL,
    folded_to INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (hour, reason, simulated)
) WITHOUT ROWID;

CREATE TABLE sheets (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    expected   TEXT NOT NULL,       -- JSON
    planned    INTEGER,
    created_at INTEGER NOT NULL,
    closed_at  INTEGER
);

CREATE TABLE sheet_rows (
    sheet_id INTEGER NOT NULL,
    position INTEGER NOT NULL,      -- from 1
    at       INTEGER NOT NULL,
    row      TEXT NOT NULL,         -- JSON
    PRIMARY KEY (sheet_id, position)
) WITHOUT ROWID;

-- Imports whose rows are stored all or none. Their rows are set aside one after
-- the other, decided at once, and become tags one after the other; a row is here
-- or a tag. What it takes is not to be had by others meanwhile.
CREATE TABLE imports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    state      TEXT NOT NULL,       -- staging, decided, given_up
    touched_at INTEGER NOT NULL
);

CREATE TABLE import_rows (
    import_id     INTEGER NOT NULL,
    position      INTEGER NOT NULL, -- from 0
    slug          TEXT UNIQUE,        -- of a tag to be; NULL: changes tag_id
    uid           BLOB UNIQUE,        -- of an inlay to be
    tag_id        INTEGER,
    experience_id INTEGER,
    master_key_id INTEGER,
    url_template_id INTEGER,
    row           TEXT NOT NULL,    -- JSON
    inlay         TEXT,             -- JSON; its keys are wrapped
    PRIMARY KEY (import_id, position)
) WITHOUT ROWID;
CREATE INDEX import_rows_experience ON import_rows (experience_id) WHERE experience_id IS NOT NULL;
CREATE INDEX import_rows_master_key ON import_rows (master_key_id) WHERE master_key_id IS NOT NULL;
CREATE INDEX import_rows_url_template ON import_rows (url_template_id) WHERE url_template_id IS NOT NULL;

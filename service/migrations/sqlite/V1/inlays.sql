-- Inlays, their keys, counters and URL templates.

CREATE TABLE master_keys (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    key        BLOB NOT NULL, -- wrapped
    key_print  BLOB NOT NULL, -- fingerprint
    derivation TEXT NOT NULL, -- JSON: how an inlay's keys are derived
    created_at INTEGER NOT NULL
);

-- How a batch of inlays writes its URLs.
CREATE TABLE url_templates (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL,
    settings       TEXT NOT NULL,              -- JSON: how URLs are written and MACs computed
    first_tap_at   INTEGER,                    -- the first real tap at the address of the template
    unlisted       TEXT NOT NULL,              -- the answer to a chip that is no inlay: refuse, page or create
    create_limit   INTEGER NOT NULL,           -- most tags that taps create in a day
    experience_id  INTEGER,                    -- of these tags
    group_id       INTEGER,                    -- of these tags
    file_key       BLOB,                       -- wrapped; a file key that all chips of the template share
    file_key_print BLOB,                       -- fingerprint
    created_on     INTEGER NOT NULL DEFAULT 0, -- the last day on which a tap created a tag, since the Unix epoch
    created        INTEGER NOT NULL DEFAULT 0, -- how many tags taps created on that day
    limited_at     INTEGER                     -- when a tap last found the limit of its day reached
);
CREATE INDEX url_templates_experience ON url_templates (experience_id) WHERE experience_id IS NOT NULL;
CREATE INDEX url_templates_group ON url_templates (group_id) WHERE group_id IS NOT NULL;

-- The keys of a template: shared meta keys, which open its codes, and master keys of file keys.
CREATE TABLE url_template_keys (
    url_template_id INTEGER NOT NULL,
    position        INTEGER NOT NULL, -- the order of the keys
    key_print       BLOB NOT NULL,
    key             BLOB,             -- wrapped; NULL: the key of the master key
    master_key_id   INTEGER,
    opens           INTEGER NOT NULL, -- opens PICC data; otherwise the master key only derives file keys
    PRIMARY KEY (url_template_id, position)
) WITHOUT ROWID;
CREATE INDEX url_template_keys_master_key ON url_template_keys (master_key_id) WHERE master_key_id IS NOT NULL;

CREATE TABLE inlays (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    uid             BLOB NOT NULL UNIQUE,
    technology      TEXT NOT NULL,
    mode            TEXT NOT NULL DEFAULT 'aes',
    url_template_id INTEGER, -- NULL: the canonical form
    tag_id          INTEGER,
    mirror          TEXT,    -- of the canonical form; NULL: makes no such codes
    mac_from        TEXT NOT NULL,
    master_key_id   INTEGER, -- NULL: keys of its own
    meta_key        BLOB,    -- wrapped; with a master key only if it is not the master key's, or derived slowly
    file_key        BLOB,    -- wrapped; with a master key only if it is derived slowly
    meta_key_print  BLOB,    -- fingerprint
    file_key_print  BLOB,    -- fingerprint; NULL: no keys
    factory_keys    INTEGER NOT NULL,
    simulated       INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER, -- the row stays, because its counter must outlive the inlay
    blocked_at      INTEGER, -- codes are refused since then: lost or cloned; NULL: not blocked
    other_keys      BLOB,    -- wrapped: keys 0, 3 and 4 that were imported with the inlay; NULL: none
    other_keys_print BLOB    -- fingerprint
);
CREATE INDEX inlays_tag ON inlays (tag_id) WHERE tag_id IS NOT NULL;
CREATE INDEX inlays_master_key ON inlays (master_key_id) WHERE master_key_id IS NOT NULL;
CREATE INDEX inlays_url_template ON inlays (url_template_id) WHERE url_template_id IS NOT NULL;

-- The candidates of a search for a part of a UID: the inlays whose UID has all three-digit pieces of it, in lower case. It
-- stores no UID; a query then compares the UID in `inlays`. A UID never changes and its row stays, so it is only added
-- to, by the operation that stores the inlay.
CREATE VIRTUAL TABLE inlays_search USING fts5 (
    uid, tokenize = 'trigram case_sensitive 1', content = '', detail = none
);

-- A tap only appends its interaction. Its effects are folded later into `counters`, `visits` and `tap_counts`. A row
-- has every tap of its key up to `folded_to`, in the order of commits, and no later one. This table has one row.
CREATE TABLE folded (
    up_to INTEGER NOT NULL -- what follows from interactions up to this id is in the rows
);
INSERT INTO folded (up_to) VALUES (0);

-- Separate from inlays, because taps are folded into it: small rows on few pages.
CREATE TABLE counters (
    inlay_id    INTEGER PRIMARY KEY,
    key_version INTEGER NOT NULL,           -- counts the replacements of the keys, from 1
    last        INTEGER NOT NULL,           -- highest accepted, 0 for none
    seen        INTEGER NOT NULL,           -- bit i: last - i was accepted
    folded_to   INTEGER NOT NULL DEFAULT 0,
    risen_on    INTEGER NOT NULL DEFAULT 0, -- without a MAC: the day of the last rise, since the Unix epoch
    risen       INTEGER NOT NULL DEFAULT 0  -- without a MAC: the rise on that day
);

-- Counters under keys that an inlay had before. If the keys return, a code that was spent under them stays spent.
CREATE TABLE former_counters (
    inlay_id       INTEGER NOT NULL,
    file_key_print BLOB NOT NULL,
    meta_key_print BLOB NOT NULL, -- empty for none
    last           INTEGER NOT NULL,
    seen           INTEGER NOT NULL,
    PRIMARY KEY (inlay_id, file_key_print, meta_key_print)
) WITHOUT ROWID;

-- The inlays of the simulator, as the chip sees them.
CREATE TABLE virtual_inlays (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    inlay_id   INTEGER NOT NULL UNIQUE,
    counter    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);

-- Reads of an inlay by this application, by the counter of the chip. Later taps do not count them as missed.
CREATE TABLE own_reads (
    inlay_id  INTEGER NOT NULL,
    counter   INTEGER NOT NULL,
    looked_at INTEGER NOT NULL,           -- when it was noted, or when retention last checked it
    passed    INTEGER NOT NULL DEFAULT 0, -- whether the counter was higher than it then
    PRIMARY KEY (inlay_id, counter)
) WITHOUT ROWID;
CREATE INDEX own_reads_looked_at ON own_reads (looked_at);

-- Chips that are no inlays, whose codes were made with the keys of a URL template. A counter is kept from the first
-- code on, so that no code is accepted again once the chip is an inlay.
CREATE TABLE unlisted_chips (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    uid             BLOB NOT NULL UNIQUE,
    url_template_id INTEGER NOT NULL, -- of the latest code
    technology      TEXT NOT NULL,
    meta_key_print  BLOB,             -- fingerprint; NULL: codes in clear
    file_key_print  BLOB NOT NULL,    -- fingerprint
    last            INTEGER NOT NULL, -- highest counter
    first_seen_at   INTEGER NOT NULL,
    last_seen_at    INTEGER NOT NULL,
    taps            INTEGER NOT NULL
);
CREATE INDEX unlisted_chips_url_template ON unlisted_chips (url_template_id, id);

-- Inlays that a tap created, each with its tag.
CREATE TABLE tap_made_inlays (
    inlay_id        INTEGER PRIMARY KEY,
    tag_id          INTEGER NOT NULL,
    url_template_id INTEGER NOT NULL,
    made_at         INTEGER NOT NULL
);
CREATE INDEX tap_made_inlays_url_template ON tap_made_inlays (url_template_id, made_at);

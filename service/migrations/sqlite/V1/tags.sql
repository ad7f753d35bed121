-- Tags, their slugs, and their properties.

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
CREATE INDEX tags_experience ON tags (experience_id, deleted_at) WHERE experience_id IS NOT NULL;
-- Lists read these indexes in their order and filter by their columns, so that a filter with few matches reads no row
-- of the table in vain.
CREATE INDEX tags_by_id ON tags (id, simulated, status, verifier_enabled, experience_id)
    WHERE deleted_at IS NULL;
CREATE INDEX tags_by_name ON tags (name COLLATE NOCASE, id, simulated, status, verifier_enabled, experience_id)
    WHERE deleted_at IS NULL;
CREATE INDEX tags_deleted ON tags (id, simulated, status, verifier_enabled, experience_id)
    WHERE deleted_at IS NOT NULL;

-- The candidates of a search: the tags that contain all three-letter pieces of a text. Former slugs follow the slug.
-- It stores no text; a query then compares the text in `tags`. The operations that write tags update it, because a
-- trigger would make each row a statement, which is several times slower.
CREATE VIRTUAL TABLE tags_search USING fts5 (
    name, slug, title, tokenize = 'trigram', content = '', contentless_delete = 1, detail = none
);

-- Slugs that a tag had before. They stay reserved, and continue to lead to the tag.
CREATE TABLE former_slugs (
    slug        TEXT PRIMARY KEY,
    tag_id      INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX former_slugs_tag ON former_slugs (tag_id);

CREATE TABLE properties (
    tag_id INTEGER NOT NULL,
    class  TEXT NOT NULL,              -- attribute, data, variable
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    -- The value is a visitor's that was erased, and that the owner keeps: no event or later record has it.
    erased INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tag_id, class, key)
) WITHOUT ROWID;

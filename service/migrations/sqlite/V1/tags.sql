-- Tags, their groups with their images, their slugs, and their properties.

CREATE TABLE tags (
    id                       INTEGER PRIMARY KEY AUTOINCREMENT,
    slug                     TEXT NOT NULL UNIQUE,
    name                     TEXT NOT NULL,
    title                    TEXT NOT NULL,
    description              TEXT NOT NULL,
    language_code            TEXT NOT NULL,
    status                   TEXT NOT NULL,
    experience_id            INTEGER,
    group_id                 INTEGER,
    verifier_enabled         INTEGER NOT NULL,
    updates_require_verified INTEGER NOT NULL,
    track_location           INTEGER NOT NULL,
    has_qr_code              INTEGER NOT NULL,
    simulated                INTEGER NOT NULL,
    location                 TEXT,          -- JSON
    widget_settings          TEXT NOT NULL, -- JSON
    created_at               INTEGER NOT NULL,
    updated_at               INTEGER NOT NULL,
    deleted_at               INTEGER,
    -- Name, slug, title, values of attributes, their codes without separators, former slugs, and pieces for runs of a
    -- letter, each between two U+001F, in the form that searches compare. Last, because only searches read it.
    folded                   TEXT NOT NULL
);
-- Slugs with capital letters, to find a tag by its slug in another case. Those without are found by the unique index.
CREATE INDEX tags_slug_folded ON tags (lower(slug)) WHERE slug <> lower(slug);
CREATE INDEX tags_experience ON tags (experience_id, deleted_at) WHERE experience_id IS NOT NULL;
CREATE INDEX tags_group ON tags (group_id, experience_id, deleted_at) WHERE group_id IS NOT NULL;
-- Lists read these indexes in their order and filter by their columns, so that a filter with few matches reads no row
-- of the table in vain.
CREATE INDEX tags_by_id ON tags (id, simulated, status, verifier_enabled, experience_id, group_id)
    WHERE deleted_at IS NULL;
CREATE INDEX tags_by_name ON tags (name COLLATE NOCASE, id, simulated, status, verifier_enabled, experience_id, group_id)
    WHERE deleted_at IS NULL;
CREATE INDEX tags_deleted ON tags (id, simulated, status, verifier_enabled, experience_id, group_id)
    WHERE deleted_at IS NOT NULL;

-- The candidates of a search: the tags whose `folded` contains all three-letter pieces of a text. It stores no text; a
-- query then compares the text in `tags`. The operations that write tags update it, because a trigger would make each row
-- a statement, which is several times slower.
CREATE VIRTUAL TABLE tags_search USING fts5 (
    folded, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1, detail = none
);

-- Groups of tags, in a tree.
CREATE TABLE tag_groups (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id            INTEGER, -- NULL: at the top
    kind                 TEXT NOT NULL, -- folder, product, batch
    name                 TEXT NOT NULL,
    folded               TEXT NOT NULL, -- name, code and GTIN in one case, for searches
    code                 TEXT, -- SKU or lot
    gtin                 TEXT,
    status               TEXT NOT NULL, -- active, recalled
    experience_id        INTEGER,
    recall_experience_id INTEGER,
    title                TEXT NOT NULL,
    description          TEXT NOT NULL,
    language_code        TEXT,
    attributes           TEXT NOT NULL, -- JSON
    data                 TEXT NOT NULL, -- JSON
    variables            TEXT NOT NULL, -- JSON
    tag_count            INTEGER NOT NULL, -- real tags in this group itself that are not deleted
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL
);
CREATE INDEX tag_groups_parent ON tag_groups (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX tag_groups_code ON tag_groups (coalesce(parent_id, 0), code) WHERE code IS NOT NULL;
CREATE INDEX tag_groups_experience ON tag_groups (experience_id) WHERE experience_id IS NOT NULL;

-- Images of products. The bytes are last, because lists of groups read the other columns.
CREATE TABLE group_images (
    group_id   INTEGER PRIMARY KEY,
    media_type TEXT NOT NULL,
    digest     TEXT NOT NULL, -- SHA-256 of the bytes, in hexadecimal
    created_at INTEGER NOT NULL,
    bytes      BLOB NOT NULL
);

-- Slugs that a tag had before. They stay reserved, and continue to lead to the tag.
CREATE TABLE former_slugs (
    slug        TEXT PRIMARY KEY,
    tag_id      INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX former_slugs_folded ON former_slugs (lower(slug)) WHERE slug <> lower(slug);
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

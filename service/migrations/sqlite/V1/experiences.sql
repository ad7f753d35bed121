-- Experiences, their published versions, and their images.

CREATE TABLE experiences (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL, -- the name in one case, for searches
    kind       TEXT NOT NULL,
    draft      TEXT NOT NULL, -- JSON
    published  INTEGER,       -- version; NULL: never published
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
);

-- Versions never change, because a repeated answer is made from the version of its tap.
CREATE TABLE experience_versions (
    experience_id INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    name          TEXT NOT NULL,
    content       TEXT NOT NULL, -- JSON
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

-- What forms sent, each in the commit of its update. The values that variables have are beside it.
CREATE TABLE submissions (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    at                 INTEGER NOT NULL,
    interaction_id     INTEGER NOT NULL UNIQUE,
    tag_id             INTEGER NOT NULL,
    experience_id      INTEGER NOT NULL,
    experience_version INTEGER NOT NULL, -- whose page the form was on
    form               TEXT NOT NULL,    -- digest of its variables: the same form in any version and language
    verification       TEXT NOT NULL,
    simulated          INTEGER NOT NULL,
    fields             TEXT NOT NULL,    -- JSON
    folded             TEXT NOT NULL,    -- the values in one case, each on lines of its own: what a search looks into
    consent            TEXT              -- the text that was agreed to
);
CREATE INDEX submissions_tag ON submissions (tag_id, id);
CREATE INDEX submissions_experience ON submissions (experience_id, id);
CREATE INDEX submissions_at ON submissions (at);

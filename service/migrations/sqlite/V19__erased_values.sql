-- The variable still has a value that a visitor entered and that was erased: its owner keeps it. No
-- event contains it, and the next change does not record it as the value before.
ALTER TABLE properties ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;

-- A tap whose request had the cookie of an earlier tap of its tag: both are of one visitor.
CREATE TABLE same_browser (
    interaction_id INTEGER PRIMARY KEY,
    earlier        INTEGER NOT NULL
);
CREATE INDEX same_browser_earlier ON same_browser (earlier);

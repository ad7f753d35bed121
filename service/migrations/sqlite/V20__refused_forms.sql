-- A form that the service could not save: why, until it is saved. It is kept beside those that are
-- saved, at most one of a tap, and counts as none of them.
ALTER TABLE submissions ADD COLUMN refused TEXT;
CREATE INDEX submissions_refused ON submissions (tag_id, id) WHERE refused IS NOT NULL;

-- How many variables tags of the run got because the page of their experience writes them.
ALTER TABLE encoding_runs ADD COLUMN variables_added INTEGER NOT NULL DEFAULT 0;

-- What a visitor's browser said of itself, coarsely, and in which of a hundred groups of visitors it
-- is where an experience treats them differently. NULL: erased, not said, or of before.
ALTER TABLE interactions ADD COLUMN system TEXT;
ALTER TABLE interactions ADD COLUMN language TEXT;
ALTER TABLE interactions ADD COLUMN visitor_group INTEGER;

-- What taps came to, by the hour (span 1) and by the day (span 24). `slot` is that many spans since
-- the Unix epoch. They are counted behind, in the order of commits.
CREATE TABLE report_counts (
    span          INTEGER NOT NULL, -- hours
    slot          INTEGER NOT NULL,
    dimension     TEXT NOT NULL,
    value         TEXT NOT NULL,
    experience_id INTEGER NOT NULL, -- 0 for none
    simulated     INTEGER NOT NULL,
    taps          INTEGER NOT NULL,
    updates       INTEGER NOT NULL, -- of the taps, how many led to one
    submissions   INTEGER NOT NULL,
    PRIMARY KEY (span, dimension, slot, value, experience_id, simulated)
) WITHOUT ROWID;

-- The last interaction that is counted, in the order of commits. One row.
CREATE TABLE report_mark (
    id     INTEGER PRIMARY KEY,
    seq    INTEGER NOT NULL,
    tap_id INTEGER NOT NULL,
    folds  INTEGER NOT NULL  -- how often it was moved
);
INSERT INTO report_mark VALUES (1, -1, 0, 0);

-- Updates and submissions that are not counted yet, each in the commit of what it is.
CREATE TABLE report_updates (
    id             INTEGER PRIMARY KEY,
    interaction_id INTEGER NOT NULL,
    submission     INTEGER NOT NULL
);
INSERT INTO report_updates (interaction_id, submission) SELECT interaction_id, 0 FROM updates;
INSERT INTO report_updates (interaction_id, submission) SELECT interaction_id, 1 FROM submissions;
CREATE TRIGGER report_update AFTER INSERT ON updates BEGIN
    INSERT INTO report_updates (interaction_id, submission) VALUES (new.interaction_id, 0);
END;
CREATE TRIGGER report_submission AFTER INSERT ON submissions BEGIN
    INSERT INTO report_updates (interaction_id, submission) VALUES (new.interaction_id, 1);
END;

-- Counts of the results of taps. They are computed from interactions, updates and submissions.

-- Results of taps by the hour (span 1) and by the day (span 24); `slot` counts such spans since the Unix epoch. They
-- are counted after the taps, in the order of commits.
CREATE TABLE report_counts (
    span          INTEGER NOT NULL, -- hours
    slot          INTEGER NOT NULL,
    dimension     TEXT NOT NULL,
    value         TEXT NOT NULL,
    experience_id INTEGER NOT NULL, -- 0 for none
    simulated     INTEGER NOT NULL,
    taps          INTEGER NOT NULL,
    updates       INTEGER NOT NULL, -- taps that led to an update
    submissions   INTEGER NOT NULL,
    PRIMARY KEY (span, dimension, slot, value, experience_id, simulated)
) WITHOUT ROWID;

-- The same for tags in groups, by the group that a tag was in when its tap was counted.
CREATE TABLE report_group_counts (
    group_id      INTEGER NOT NULL,
    span          INTEGER NOT NULL,
    slot          INTEGER NOT NULL,
    dimension     TEXT NOT NULL,
    value         TEXT NOT NULL,
    experience_id INTEGER NOT NULL, -- 0 for none
    simulated     INTEGER NOT NULL,
    taps          INTEGER NOT NULL,
    updates       INTEGER NOT NULL,
    submissions   INTEGER NOT NULL,
    PRIMARY KEY (group_id, span, dimension, slot, value, experience_id, simulated)
) WITHOUT ROWID;
CREATE INDEX report_group_counts_slot ON report_group_counts (span, slot);

-- The last counted interaction, in the order of commits. It has one row.
CREATE TABLE report_mark (
    id     INTEGER PRIMARY KEY,
    seq    INTEGER NOT NULL,
    tap_id INTEGER NOT NULL,
    folds  INTEGER NOT NULL -- how often it was moved
);
INSERT INTO report_mark VALUES (1, -1, 0, 0);

-- Updates and submissions that are not counted yet, each in the commit of the update or submission.
CREATE TABLE report_updates (
    id             INTEGER PRIMARY KEY,
    interaction_id INTEGER NOT NULL,
    submission     INTEGER NOT NULL
);

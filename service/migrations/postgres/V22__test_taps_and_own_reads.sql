-- Taps of the real world that this application's readers made, each written in the commit of its interaction.
-- Counted apart from visitors' taps, also once their interactions are erased: a row has what it is counted by
-- itself, and no `interaction_id` that goes with them.
CREATE TABLE test_taps (
    tap_id        BIGINT PRIMARY KEY,
    tag_id        BIGINT NOT NULL, -- 0 for none
    experience_id BIGINT,
    hour          BIGINT NOT NULL,
    reason        TEXT NOT NULL,
    origin        TEXT NOT NULL
);
CREATE INDEX test_taps_hour ON test_taps (hour);
CREATE INDEX test_taps_tag ON test_taps (tag_id);

-- Reads of an inlay by this application, by the chip's counter: no missed reads of later taps.
CREATE TABLE own_reads (
    inlay_id  BIGINT NOT NULL,
    counter   BIGINT NOT NULL,
    looked_at BIGINT NOT NULL, -- when it was noted, or when retention last looked at it
    passed    BOOLEAN NOT NULL DEFAULT FALSE, -- whether the counter was beyond it then
    PRIMARY KEY (inlay_id, counter)
);
CREATE INDEX own_reads_looked_at ON own_reads (looked_at);

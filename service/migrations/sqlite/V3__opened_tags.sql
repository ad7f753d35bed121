-- When the first real tap came in at the address of a template.
ALTER TABLE url_templates ADD COLUMN first_tap_at INTEGER;

-- Tags whose inlay reported an open tamper loop, and when it did so first: the mark outlives
-- the interaction. It is written with the tap, which is rare enough not to be folded.
CREATE TABLE opened_tags (
    tag_id         INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    interaction_id INTEGER NOT NULL
);
INSERT INTO opened_tags (tag_id, at, interaction_id)
SELECT tag_id, min(at), id FROM interactions WHERE tamper IN ('open', 'reclosed') AND tag_id <> 0 GROUP BY tag_id;

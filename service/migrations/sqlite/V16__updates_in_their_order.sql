-- Updates lie in the order in which they come, and a small index finds that of a key. In the order
-- of keys, which come in any, each update of a commit was a page of its own, and pages were split.
-- That an update or a submission is to be counted is written by whoever writes it: a trigger makes
-- an insert a statement that copies each page before it changes it.
DROP TRIGGER report_update;
DROP TRIGGER report_submission;
ALTER TABLE updates RENAME TO former_updates;
CREATE TABLE updates (
    id             INTEGER PRIMARY KEY,
    interaction_id INTEGER NOT NULL UNIQUE,
    at             INTEGER NOT NULL,
    changes        TEXT NOT NULL,   -- JSON
    request        BLOB             -- digest of Idempotency-Key and body
);
INSERT INTO updates (interaction_id, at, changes, request)
    SELECT interaction_id, at, changes, request FROM former_updates ORDER BY interaction_id;
DROP TABLE former_updates;

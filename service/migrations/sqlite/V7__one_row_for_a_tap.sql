-- A tap is one row: the hash of its key is in it, for as long as the row is there. A key lives by
-- its interaction's time, and by `expired_keys`; it is consumed by its row of `updates`.
ALTER TABLE interactions ADD COLUMN key_hash BLOB;   -- of the key's random characters; NULL: no key, or erased
ALTER TABLE interactions ADD COLUMN url_digest BLOB; -- by which the same URL is known again on a reload
ALTER TABLE updates ADD COLUMN request BLOB;         -- digest of Idempotency-Key and body
DROP TABLE rolling_keys;

-- Keys that are expired whatever the clock says: those of interactions up to an id. A clock that
-- goes back brings none of them to life again. There is one row, once there is such a key.
CREATE TABLE expired_keys (
    id              INTEGER PRIMARY KEY,
    up_to           INTEGER NOT NULL, -- keys of interactions up to this id
    simulated_up_to INTEGER NOT NULL, -- those of simulated interactions up to this id
    looked_to       INTEGER NOT NULL  -- interactions until then were looked at
);
INSERT INTO expired_keys
SELECT 1, max(id), 0, max(at) FROM interactions HAVING count(*) > 0;

-- The writer gives ids in the order of commits: they need no column, and no index of their own.
-- What followed from taps was folded by the program before this.
UPDATE webhook_states SET
    tap_seq = coalesce((SELECT min(id) - 1 FROM interactions WHERE seq > tap_seq),
        (SELECT max(id) FROM interactions), 0),
    again_seq = coalesce((SELECT max(id) FROM interactions WHERE seq > 0 AND seq <= again_seq), -1);
UPDATE folded SET up_to = max(up_to, coalesce((SELECT max(id) FROM interactions), 0));
DROP INDEX interactions_seq;
ALTER TABLE interactions DROP COLUMN seq;
ALTER TABLE folded DROP COLUMN seq;

-- A tap is one row of the history: the hash of its key is in it, for as long as the row is there.
-- A key lives by its interaction's time, and by `expired_keys`; it is consumed by its row of
-- `updates`. So the key costs no row, no index and no removal of its own. `record_taps`, which writes
-- the row, is in V9.
ALTER TABLE interactions
    ADD COLUMN key_hash BYTEA,   -- of the key's random characters; NULL: no key, or erased
    ADD COLUMN url_digest BYTEA; -- by which the same URL is known again on a reload
ALTER TABLE updates
    ADD COLUMN request BYTEA,    -- digest of Idempotency-Key and body
    ADD COLUMN attempt BIGINT;   -- the one that did it, known by its number
DROP TABLE rolling_keys;

-- Keys that are expired whatever the clock says: those of interactions up to an id. A clock that
-- goes back brings none of them to life again. There is one row, once there is such a key.
CREATE TABLE expired_keys (
    id              BIGINT PRIMARY KEY,
    up_to           BIGINT NOT NULL, -- keys of interactions up to this id
    simulated_up_to BIGINT NOT NULL, -- those of simulated interactions up to this id
    looked_to       BIGINT NOT NULL  -- interactions until then were looked at
);
INSERT INTO expired_keys
SELECT 1, max(id), 0, max(at) FROM interactions HAVING count(*) > 0;

-- Keys of interactions up to this id are expired.
CREATE FUNCTION keys_expired_to(of_simulated BOOLEAN) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT CASE WHEN of_simulated THEN greatest(up_to, simulated_up_to) ELSE up_to END
        FROM expired_keys), 0)
$$;

-- Expires all keys that were issued until now: those of the simulated world alone, or all.
CREATE FUNCTION expire_keys(only_simulated BOOLEAN) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    newest BIGINT;
BEGIN
    -- Taps that are on their way have looked at the clock already.
    LOCK TABLE interactions IN SHARE MODE;
    SELECT coalesce(max(i.id), 0) INTO newest FROM interactions i;
    INSERT INTO expired_keys AS e
    VALUES (1, CASE WHEN only_simulated THEN 0 ELSE newest END, newest,
        CASE WHEN only_simulated THEN -9223372036854775808 ELSE present() - 300000 END)
    ON CONFLICT (id) DO UPDATE SET up_to = greatest(e.up_to, excluded.up_to),
        simulated_up_to = excluded.simulated_up_to, looked_to = least(e.looked_to, excluded.looked_to);
END $$;

-- What comes from now on may be dated earlier than what was looked at before, if the clock went back.
CREATE FUNCTION look_again() RETURNS VOID LANGUAGE sql AS $$
    UPDATE expired_keys SET looked_to = present() - 300000 WHERE looked_to > present() - 300000
$$;

-- Expires keys that came of age since the last time. Simulated interactions tell it of earlier
-- ones, too: their time is never behind.
CREATE FUNCTION expire_aged_keys() RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    until CONSTANT BIGINT := present() - 300000;
    before CONSTANT BIGINT := coalesce((SELECT looked_to FROM expired_keys), -9223372036854775808);
    newest CONSTANT BIGINT := (SELECT max(i.id) FROM interactions i WHERE i.at > before AND i.at <= until);
BEGIN
    IF newest IS NOT NULL THEN
        INSERT INTO expired_keys AS e VALUES (1, newest, 0, until)
        ON CONFLICT (id) DO UPDATE SET up_to = greatest(e.up_to, excluded.up_to), looked_to = excluded.looked_to;
    END IF;
END $$;

-- Consumes a key, which is locked, and writes its variables, or says why not; `detail` has the
-- changes then (JSON), or the variable there is none of. `attempt` is a number that no other
-- attempt has: one whose answer was lost is made again with it, and answered with what it did.
--
-- Hashes are compared as they are. How long that takes may tell something of the
-- hash of a guess, and nothing of a key.
DROP FUNCTION update_variables_of;
CREATE FUNCTION update_variables_of(
    interaction BIGINT, key_tag BIGINT, issued_at BIGINT, simulated BOOLEAN, verified BOOLEAN, valid BOOLEAN,
    attempt BIGINT, asked BYTEA, keys TEXT[], new_values TEXT[], ahead BIGINT
) RETURNS TABLE (outcome TEXT, of_tag BIGINT, decided_at BIGINT, is_simulated BOOLEAN, detail TEXT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lifetime CONSTANT BIGINT := 300000;
    done updates%ROWTYPE;
    tag RECORD;
    old_values TEXT[];
BEGIN
    IF NOT valid THEN
        outcome := 'invalid_key';
        RETURN NEXT;
        RETURN;
    END IF;
    of_tag := key_tag;
    is_simulated := simulated;
    decided_at := present() + CASE WHEN simulated THEN ahead ELSE 0 END;
    SELECT * INTO done FROM updates WHERE interaction_id = interaction;
    IF done.attempt = update_variables_of.attempt THEN
        outcome := 'done';
        decided_at := done.at;
        detail := done.changes;
    ELSIF decided_at < issued_at OR decided_at - issued_at >= lifetime THEN
        outcome := 'invalid_key';
    ELSIF done.at IS NOT NULL THEN
        outcome := CASE WHEN done.request = asked THEN 'repeated' ELSE 'consumed' END;
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT experience_id, deleted_at, updates_require_verified INTO tag FROM tags WHERE id = key_tag;
    -- Twice, because variables that an edit replaced meanwhile are seen the second time.
    FOR look IN 1..2 LOOP
        SELECT array_agg(p.value ORDER BY wanted.place) INTO old_values
        FROM unnest(keys) WITH ORDINALITY AS wanted (key, place) LEFT JOIN (
            SELECT key, value FROM properties
            WHERE tag_id = key_tag AND class = 'variable' AND key = ANY (keys) ORDER BY key FOR UPDATE
        ) p USING (key);
        EXIT WHEN array_position(old_values, NULL) IS NULL;
    END LOOP;
    IF tag.experience_id IS NULL OR tag.deleted_at IS NOT NULL THEN
        outcome := 'not_assigned';
    ELSIF tag.updates_require_verified AND NOT verified THEN
        outcome := 'not_verified';
    ELSIF array_position(old_values, NULL) IS NOT NULL THEN
        outcome := 'unknown_variable';
        detail := keys[array_position(old_values, NULL)];
    ELSE
        outcome := 'done';
        UPDATE properties p SET value = n.value FROM unnest(keys, new_values) AS n (key, value)
            WHERE p.tag_id = key_tag AND p.class = 'variable' AND p.key = n.key;
        SELECT json_agg(json_build_object('key', c.key, 'old', c.old, 'new', c.new) ORDER BY c.place) INTO detail
            FROM unnest(keys, old_values, new_values) WITH ORDINALITY AS c (key, old, new, place);
        -- This row is what consumes the key.
        INSERT INTO updates (interaction_id, at, changes, request, attempt)
            VALUES (interaction, decided_at, detail, asked, update_variables_of.attempt);
    END IF;
    RETURN NEXT;
END $$;

-- Makes updates, each for itself. The keys and values of the one at a place are
-- those from its first to its last. A key is locked by the id of its interaction.
CREATE OR REPLACE FUNCTION update_variables(
    interactions BIGINT[], hashes BYTEA[], attempts BIGINT[], requests BYTEA[], offsets BIGINT[],
    firsts INTEGER[], lasts INTEGER[], keys TEXT[], new_values TEXT[]
) RETURNS TABLE (place BIGINT, outcome TEXT, of_tag BIGINT, decided_at BIGINT, is_simulated BOOLEAN, detail TEXT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    next RECORD;
    expired CONSTANT BIGINT := keys_expired_to(false);
    simulated_expired CONSTANT BIGINT := keys_expired_to(true);
BEGIN
    PERFORM pg_advisory_xact_lock(locked.id)
        FROM (SELECT unnest(update_variables.interactions) AS id ORDER BY 1) AS locked;
    FOR next IN
        SELECT u.*, k.tag_id, k.at, k.simulated, k.reason = 'verified' AS verified,
            coalesce(k.key_hash = u.hash, false)
                AND u.interaction > CASE WHEN k.simulated THEN simulated_expired ELSE expired END AS valid
        FROM unnest(update_variables.interactions, hashes, attempts, requests, offsets, firsts, lasts)
                WITH ORDINALITY AS u (interaction, hash, attempt, request, ahead, first, last, place)
            LEFT JOIN LATERAL (
                -- LIMIT has each looked up by itself, in its own partition alone.
                SELECT i.tag_id, i.at, i.simulated, i.reason, i.key_hash FROM interactions i
                WHERE i.id = u.interaction LIMIT 1
            ) k ON TRUE
        ORDER BY k.tag_id, u.place
    LOOP
        RETURN QUERY SELECT next.place, done.* FROM update_variables_of(next.interaction, next.tag_id, next.at,
            next.simulated, next.verified, next.valid, next.attempt, next.request,
            keys[next.first:next.last], new_values[next.first:next.last], next.ahead) AS done;
    END LOOP;
END $$;

-- A visitor's update is told in its commit, if an endpoint gets such events.
CREATE OR REPLACE FUNCTION tell_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM webhook_types WHERE type = 'tag.updated') THEN
        INSERT INTO outbox (at, type, tag_id, experience_id, simulated, data)
        SELECT NEW.at, 'tag.updated', t.id, t.experience_id, i.simulated, json_build_object(
            'tag_id', t.id, 'slug', t.slug, 'tag_name', t.name, 'interaction_id', NEW.interaction_id,
            'changes', NEW.changes::JSON, 'simulated', i.simulated)
        FROM interactions i JOIN tags t ON t.id = i.tag_id WHERE i.id = NEW.interaction_id;
    END IF;
    RETURN NULL;
END $$;

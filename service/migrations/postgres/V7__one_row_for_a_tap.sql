-- A tap is one row of the history: the hash of its key is in it, for as long as the row is there.
-- A key lives by its interaction's time, and by `expired_keys`; it is consumed by its row of
-- `updates`. So the key costs no row, no index and no removal of its own.
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

-- Records taps, all or none. A NULL reason is to be decided by the counter, as
-- CounterState::accept does in Rust, or, of a chip without a MAC (`mirrors`), as
-- MirrorState::show does: the same cases drive both in a test. A
-- batch whose answer was lost is sent again with `again`: what was recorded then
-- is answered once more. The lock on its first id lets a batch that is still on
-- its way end before.
CREATE OR REPLACE FUNCTION record_taps(
    again BOOLEAN, writer SMALLINT,
    ids BIGINT[], tags BIGINT[], inlays BIGINT[], key_versions INTEGER[], read_counters BIGINT[], mirrors BOOLEAN[],
    reasons TEXT[], lasts BIGINT[], uids BYTEA[], techs TEXT[], experiences BIGINT[], versions INTEGER[],
    clients BYTEA[], countries TEXT[], hashes BYTEA[], url_digests BYTEA[], simulations BOOLEAN[], offsets BIGINT[],
    tampers TEXT[], file_datas BYTEA[]
) RETURNS TABLE (
    interaction BIGINT, recorded_at BIGINT, why TEXT, code_counter BIGINT, accepted BIGINT,
    came_this_month BOOLEAN, came_today BOOLEAN
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    day CONSTANT BIGINT := 86400000;
    daily_rise_max CONSTANT BIGINT := 1000;
    today BIGINT;
    moment BIGINT;
    tap RECORD;
    state counters%ROWTYPE;
    behind BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(ids[1]);
    IF again AND EXISTS (SELECT FROM interactions WHERE id = ids[1]) THEN
        RETURN QUERY SELECT id, at, reason, counter, last_counter, returning_month, returning_day
            FROM interactions WHERE id = ANY (ids);
        RETURN;
    END IF;

    FOR tap IN
        SELECT place, inlay, key_version, counter, mirrored, ahead
        FROM unnest(inlays, key_versions, read_counters, mirrors, reasons, offsets)
            WITH ORDINALITY AS code (inlay, key_version, counter, mirrored, decided, ahead, place)
        WHERE inlay IS NOT NULL AND decided IS NULL ORDER BY inlay, place
    LOOP
        IF tap.mirrored THEN
            SELECT * INTO state FROM counters
                WHERE inlay_id = tap.inlay AND key_version = tap.key_version FOR UPDATE;
            IF NOT FOUND THEN
                reasons[tap.place] := 'keys_replaced';
                CONTINUE;
            END IF;
            -- The day of the tap's own world, as MirrorState counts it.
            today := (present() + tap.ahead) / day;
            IF state.risen_on <> today THEN
                state.risen := 0;
            END IF;
            lasts[tap.place] := state.last;
            reasons[tap.place] := 'no_mac';
            IF tap.counter > state.last AND state.risen + tap.counter - state.last > daily_rise_max THEN
                reasons[tap.place] := 'jumped';
            ELSIF tap.counter > state.last THEN
                UPDATE counters SET last = tap.counter, risen_on = today, risen = state.risen + tap.counter - state.last
                    WHERE inlay_id = tap.inlay;
            END IF;
            CONTINUE;
        END IF;
        UPDATE counters SET
            before = last, last = tap.counter,
            seen = 1 | CASE WHEN tap.counter - last < 64 THEN seen << (tap.counter - last)::INTEGER ELSE 0 END
        WHERE inlay_id = tap.inlay AND key_version = tap.key_version AND last < tap.counter
        RETURNING * INTO state;
        IF FOUND THEN
            reasons[tap.place] := 'verified';
            lasts[tap.place] := state.before;
            CONTINUE;
        END IF;
        SELECT * INTO state FROM counters WHERE inlay_id = tap.inlay AND key_version = tap.key_version;
        IF NOT FOUND THEN
            reasons[tap.place] := 'keys_replaced';
            CONTINUE;
        END IF;
        behind := state.last - tap.counter;
        lasts[tap.place] := state.last;
        -- Below the window every bit counts as set.
        reasons[tap.place] := CASE
            WHEN tap.counter = 0 OR behind < 0 THEN 'out_of_order'
            WHEN behind = 0 OR behind >= 64 THEN 'replayed'
            WHEN state.seen >> behind::INTEGER & 1 = 1 THEN 'replayed'
            ELSE 'out_of_order'
        END;
    END LOOP;

    moment := present();
    RETURN QUERY
    WITH tap AS MATERIALIZED (
        SELECT *, moment + ahead AS at
        FROM unnest(ids, tags, inlays, read_counters, reasons, lasts, uids, techs, experiences, versions,
                clients, countries, hashes, url_digests, simulations, offsets, tampers, file_datas)
            WITH ORDINALITY AS t (id, tag_id, inlay_id, counter, reason, last_counter, uid, tech, experience_id,
                experience_version, client, country, hash, url_digest, simulated, ahead, tamper, file_data, place)
    ), everyone AS (
        INSERT INTO visits AS v (tag_id, client, scans, last_at, last_interaction)
        SELECT tag_id, '', count(*), max(at), max(id) FROM tap GROUP BY tag_id ORDER BY tag_id
        ON CONFLICT (tag_id, client) DO UPDATE SET
            before = v.last_interaction, before_at = v.last_at, scans = v.scans + excluded.scans,
            last_at = greatest(v.last_at, excluded.last_at), last_interaction = excluded.last_interaction
        RETURNING tag_id, before
    ), visitor AS (
        -- Joined with everyone, so that it comes after all of them.
        INSERT INTO visits AS v (tag_id, client, scans, last_at, last_interaction)
        SELECT tag_id, client, count(*), max(at), max(id) FROM tap JOIN everyone USING (tag_id)
        GROUP BY tag_id, client ORDER BY tag_id, client
        ON CONFLICT (tag_id, client) DO UPDATE SET
            before = v.last_interaction, before_at = v.last_at, scans = v.scans + excluded.scans,
            last_at = greatest(v.last_at, excluded.last_at), last_interaction = excluded.last_interaction
        RETURNING tag_id, client, before_at
    ), known AS (
        SELECT tap.*,
            coalesce(lag(id) OVER (PARTITION BY tag_id ORDER BY place), everyone.before) AS previous,
            at - coalesce(lag(at) OVER (PARTITION BY tag_id, client ORDER BY place), visitor.before_at) AS away
        FROM tap JOIN everyone USING (tag_id) JOIN visitor USING (tag_id, client)
    ), recorded AS (
        INSERT INTO interactions (id, at, tag_id, previous, inlay_id, experience_id, experience_version, counter,
            last_counter, returning_month, returning_day, key_issued, simulated, reason, tech, country, uid, client,
            tamper, file_data, key_hash, url_digest)
        SELECT id, at, tag_id, previous, inlay_id, experience_id, experience_version, counter, last_counter,
            coalesce(away < 30 * day, false), coalesce(away < day, false), hash IS NOT NULL, simulated, reason,
            tech, country, uid, client, tamper, file_data, hash, url_digest
        FROM known
    ), opened AS (
        -- The first time that a tag's inlay reports an open loop. Rows are locked last, by tag.
        INSERT INTO opened_tags (tag_id, at, interaction_id)
        SELECT DISTINCT ON (tag_id) tag_id, at, id FROM tap
        WHERE tamper IN ('open', 'reclosed') AND tag_id <> 0 ORDER BY tag_id, place
        ON CONFLICT (tag_id) DO NOTHING
    ), counted AS (
        INSERT INTO tap_counts AS c (hour, reason, simulated, writer, taps)
        SELECT at / 3600000, reason, simulated, record_taps.writer, count(*) FROM tap
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (hour, reason, simulated, writer) DO UPDATE SET taps = c.taps + excluded.taps
    )
    SELECT id, at, reason, counter, last_counter, coalesce(away < 30 * day, false), coalesce(away < day, false)
    FROM known;
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

-- What is decided of taps and updates: each function is one statement of its
-- caller, and one transaction.
--
-- Rows are locked in the same order everywhere, so that nodes wait for each
-- other and never in a circle: counters by inlay, visits by tag, tap_counts;
-- keys by interaction, properties by tag and key. Whoever edits a tag's
-- properties locks them first.

-- Records taps, all or none. A NULL reason is to be decided by the counter, as
-- CounterState::accept does in Rust, or, of a chip without a MAC (`mirrors`), as
-- MirrorState::show does: the same cases drive both in a test. A
-- batch whose answer was lost is sent again with `again`: what was recorded then
-- is answered once more. The lock on its first id lets a batch that is still on
-- its way end before.
CREATE FUNCTION record_taps(
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

    today := present() / day;
    FOR tap IN
        SELECT place, inlay, key_version, counter, mirrored
        FROM unnest(inlays, key_versions, read_counters, mirrors, reasons)
            WITH ORDINALITY AS code (inlay, key_version, counter, mirrored, decided, place)
        WHERE inlay IS NOT NULL AND decided IS NULL ORDER BY inlay, place
    LOOP
        IF tap.mirrored THEN
            SELECT * INTO state FROM counters
                WHERE inlay_id = tap.inlay AND key_version = tap.key_version FOR UPDATE;
            IF NOT FOUND THEN
                reasons[tap.place] := 'keys_replaced';
                CONTINUE;
            END IF;
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
            tamper, file_data)
        SELECT id, at, tag_id, previous, inlay_id, experience_id, experience_version, counter, last_counter,
            coalesce(away < 30 * day, false), coalesce(away < day, false), hash IS NOT NULL, simulated, reason,
            tech, country, uid, client, tamper, file_data
        FROM known
    ), issued AS (
        INSERT INTO rolling_keys (interaction_id, tag_id, issued_at, simulated, verified, hash, url_digest)
        SELECT id, tag_id, at, simulated, reason = 'verified', hash, url_digest FROM tap WHERE hash IS NOT NULL
    ), counted AS (
        INSERT INTO tap_counts AS c (hour, reason, simulated, writer, taps)
        SELECT at / 3600000, reason, simulated, record_taps.writer, count(*) FROM tap
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (hour, reason, simulated, writer) DO UPDATE SET taps = c.taps + excluded.taps
    )
    SELECT id, at, reason, counter, last_counter, coalesce(away < 30 * day, false), coalesce(away < day, false)
    FROM known;
END $$;

-- Consumes a key, whose row is locked, and writes its variables, or says why
-- not; `detail` has the changes then (JSON), or the variable there is none of.
-- `attempt` is a number that no other attempt has: one whose answer was lost is
-- made again with it, and answered with what it did.
--
-- Hashes are compared as they are. How long that takes may tell something of the
-- hash of a guess, and nothing of a key.
CREATE FUNCTION update_variables_of(
    interaction BIGINT, presented BYTEA, attempt BIGINT, asked BYTEA, keys TEXT[], new_values TEXT[], ahead BIGINT
) RETURNS TABLE (outcome TEXT, of_tag BIGINT, decided_at BIGINT, is_simulated BOOLEAN, detail TEXT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lifetime CONSTANT BIGINT := 300000;
    held rolling_keys%ROWTYPE;
    tag RECORD;
    old_values TEXT[];
BEGIN
    SELECT * INTO held FROM rolling_keys WHERE interaction_id = interaction;
    IF NOT FOUND OR held.hash <> presented THEN
        outcome := 'invalid_key';
        RETURN NEXT;
        RETURN;
    END IF;
    of_tag := held.tag_id;
    is_simulated := held.simulated;
    decided_at := present() + CASE WHEN held.simulated THEN ahead ELSE 0 END;
    IF held.consumed_by = attempt THEN
        outcome := 'done';
        SELECT at, changes INTO decided_at, detail FROM updates WHERE interaction_id = interaction;
    ELSIF decided_at < held.issued_at OR decided_at - held.issued_at >= lifetime THEN
        outcome := 'invalid_key';
    ELSIF held.consumed_at IS NOT NULL THEN
        outcome := CASE WHEN held.request = asked THEN 'repeated' ELSE 'consumed' END;
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT experience_id, deleted_at, updates_require_verified INTO tag FROM tags WHERE id = held.tag_id;
    -- Twice, because variables that an edit replaced meanwhile are seen the second time.
    FOR look IN 1..2 LOOP
        SELECT array_agg(p.value ORDER BY wanted.place) INTO old_values
        FROM unnest(keys) WITH ORDINALITY AS wanted (key, place) LEFT JOIN (
            SELECT key, value FROM properties
            WHERE tag_id = held.tag_id AND class = 'variable' AND key = ANY (keys) ORDER BY key FOR UPDATE
        ) p USING (key);
        EXIT WHEN array_position(old_values, NULL) IS NULL;
    END LOOP;
    IF tag.experience_id IS NULL OR tag.deleted_at IS NOT NULL THEN
        outcome := 'not_assigned';
    ELSIF tag.updates_require_verified AND NOT held.verified THEN
        outcome := 'not_verified';
    ELSIF array_position(old_values, NULL) IS NOT NULL THEN
        outcome := 'unknown_variable';
        detail := keys[array_position(old_values, NULL)];
    ELSE
        outcome := 'done';
        UPDATE properties p SET value = n.value FROM unnest(keys, new_values) AS n (key, value)
            WHERE p.tag_id = held.tag_id AND p.class = 'variable' AND p.key = n.key;
        UPDATE rolling_keys SET consumed_at = decided_at, consumed_by = attempt, request = asked
            WHERE interaction_id = interaction;
        SELECT json_agg(json_build_object('key', c.key, 'old', c.old, 'new', c.new) ORDER BY c.place) INTO detail
            FROM unnest(keys, old_values, new_values) WITH ORDINALITY AS c (key, old, new, place);
        INSERT INTO updates (interaction_id, at, changes) VALUES (interaction, decided_at, detail);
    END IF;
    RETURN NEXT;
END $$;

-- Makes updates, each for itself. The keys and values of the one at a place are
-- those from its first to its last.
CREATE FUNCTION update_variables(
    interactions BIGINT[], hashes BYTEA[], attempts BIGINT[], requests BYTEA[], offsets BIGINT[],
    firsts INTEGER[], lasts INTEGER[], keys TEXT[], new_values TEXT[]
) RETURNS TABLE (place BIGINT, outcome TEXT, of_tag BIGINT, decided_at BIGINT, is_simulated BOOLEAN, detail TEXT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    next RECORD;
BEGIN
    PERFORM FROM rolling_keys WHERE interaction_id = ANY (update_variables.interactions)
        ORDER BY interaction_id FOR UPDATE;
    FOR next IN
        SELECT u.* FROM unnest(update_variables.interactions, hashes, attempts, requests, offsets, firsts, lasts)
                WITH ORDINALITY AS u (interaction, hash, attempt, request, ahead, first, last, place)
            LEFT JOIN rolling_keys k ON k.interaction_id = u.interaction
        ORDER BY k.tag_id, u.place
    LOOP
        RETURN QUERY SELECT next.place, done.* FROM update_variables_of(next.interaction, next.hash, next.attempt,
            next.request, keys[next.first:next.last], new_values[next.first:next.last], next.ahead) AS done;
    END LOOP;
END $$;

-- Records taps, all or none. A NULL reason is decided by the counter, as `CounterState::accept` does in Rust, or, for
-- a chip without a MAC (`mirrors`), as `MirrorState::show` does; one test drives both with the same cases. The reason
-- `blocked` with a key version is of an authentic code whose inlay is blocked: its counter moves, and it verifies
-- nothing.
--
-- A batch whose answer was lost is sent again with `again`, and gets the answer for the rows that it recorded before.
-- The lock on its first id lets a batch that still runs end first.
--
-- Its statements are planned once in a session. The planner would sometimes prefer a plan for each batch, and making one
-- takes longer than the batch.
CREATE OR REPLACE FUNCTION record_taps(
    again BOOLEAN, writer SMALLINT,
    ids BIGINT[], tags BIGINT[], inlays BIGINT[], key_versions INTEGER[], read_counters BIGINT[], mirrors BOOLEAN[],
    reasons TEXT[], lasts BIGINT[], uids BYTEA[], techs TEXT[], experiences BIGINT[], versions INTEGER[],
    clients BYTEA[], countries TEXT[], hashes BYTEA[], url_digests BYTEA[], simulations BOOLEAN[], offsets BIGINT[],
    tampers TEXT[], file_datas BYTEA[], systems TEXT[], languages TEXT[], visitor_groups INTEGER[],
    recalls BIGINT[]
) RETURNS TABLE (
    interaction BIGINT, recorded_at BIGINT, why TEXT, code_counter BIGINT, accepted BIGINT,
    came_this_month BOOLEAN, came_today BOOLEAN
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    day CONSTANT BIGINT := 86400000;
    daily_rise_max CONSTANT BIGINT := 1000;
    first_max CONSTANT BIGINT := 1000000;
    today BIGINT;
    moment BIGINT;
    tap RECORD;
    state counters%ROWTYPE;
    behind BIGINT;
    rise BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(ids[1]);
    IF again THEN
        RETURN QUERY SELECT id, at, reason, counter, last_counter, returning_month, returning_day
            FROM interactions WHERE id = ANY (ids);
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;

    FOR tap IN
        SELECT place, inlay, key_version, counter, mirrored, decided, ahead
        FROM unnest(inlays, key_versions, read_counters, mirrors, reasons, offsets)
            WITH ORDINALITY AS code (inlay, key_version, counter, mirrored, decided, ahead, place)
        WHERE inlay IS NOT NULL AND (decided IS NULL OR decided = 'blocked' AND key_version IS NOT NULL)
        ORDER BY inlay, place
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
            -- Nobody knows the counter before the first one.
            rise := CASE WHEN state.last = 0 THEN 0 ELSE state.risen + tap.counter - state.last END;
            IF tap.counter > state.last AND (rise > daily_rise_max OR state.last = 0 AND tap.counter > first_max) THEN
                reasons[tap.place] := 'jumped';
            ELSIF tap.counter > state.last THEN
                UPDATE counters SET last = tap.counter, risen_on = today, risen = rise WHERE inlay_id = tap.inlay;
            END IF;
            CONTINUE;
        END IF;
        UPDATE counters SET
            before = last, last = tap.counter,
            seen = 1 | CASE WHEN tap.counter - last < 64 THEN seen << (tap.counter - last)::INTEGER ELSE 0 END
        WHERE inlay_id = tap.inlay AND key_version = tap.key_version AND last < tap.counter
        RETURNING * INTO state;
        IF FOUND THEN
            IF tap.decided IS NULL THEN
                reasons[tap.place] := 'verified';
                lasts[tap.place] := state.before;
            END IF;
            CONTINUE;
        END IF;
        SELECT * INTO state FROM counters WHERE inlay_id = tap.inlay AND key_version = tap.key_version;
        IF NOT FOUND THEN
            reasons[tap.place] := 'keys_replaced';
            CONTINUE;
        END IF;
        IF tap.decided IS NOT NULL THEN
            CONTINUE;
        END IF;
        behind := state.last - tap.counter;
        lasts[tap.place] := state.last;
        -- Below the window, every bit counts as set.
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
                clients, countries, hashes, url_digests, simulations, offsets, tampers, file_datas,
                systems, languages, visitor_groups, recalls)
            WITH ORDINALITY AS t (id, tag_id, inlay_id, counter, reason, last_counter, uid, tech, experience_id,
                experience_version, client, country, hash, url_digest, simulated, ahead, tamper, file_data,
                system, language, visitor_group, recall_group_id, place)
    ), visited AS (
        -- Tag by tag, and the row of all clients first: everybody who locks several rows has this order.
        INSERT INTO visits AS v (tag_id, client, scans, last_at, last_interaction)
        SELECT tag_id, visitor, count(*), max(at), max(id)
        FROM tap, LATERAL (VALUES (''::BYTEA), (client)) AS visitors (visitor)
        GROUP BY tag_id, visitor ORDER BY tag_id, visitor
        ON CONFLICT (tag_id, client) DO UPDATE SET
            before = v.last_interaction, before_at = v.last_at, scans = v.scans + excluded.scans,
            last_at = greatest(v.last_at, excluded.last_at), last_interaction = excluded.last_interaction
        RETURNING tag_id, client, before, before_at
    ), known AS (
        -- In the order of ids, which are reserved before taps join their group. The highest id is the last
        -- interaction of its tag above, and any other order would leave some out of the chain.
        SELECT tap.*,
            coalesce(lag(id) OVER (PARTITION BY tap.tag_id ORDER BY id), everyone.before) AS previous,
            at - coalesce(lag(at) OVER (PARTITION BY tap.tag_id, tap.client ORDER BY id), visitor.before_at) AS away
        FROM tap JOIN visited everyone ON everyone.tag_id = tap.tag_id AND everyone.client = ''
            JOIN visited visitor ON visitor.tag_id = tap.tag_id AND visitor.client = tap.client
    ), recorded AS (
        INSERT INTO interactions (id, at, tag_id, previous, inlay_id, experience_id, experience_version, counter,
            last_counter, returning_month, returning_day, key_issued, simulated, reason, tech, country, uid, client,
            tamper, file_data, key_hash, url_digest, system, language, visitor_group, recall_group_id)
        SELECT id, at, tag_id, previous, inlay_id, experience_id, experience_version, counter, last_counter,
            coalesce(away < 30 * day, false), coalesce(away < day, false), hash IS NOT NULL, simulated, reason,
            tech, country, uid, client, tamper, file_data, hash, url_digest, system, language, visitor_group,
            recall_group_id
        FROM known
    ), counted AS (
        INSERT INTO tap_counts AS c (hour, reason, simulated, writer, taps)
        SELECT at / 3600000, reason, simulated, record_taps.writer, count(*) FROM tap
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (hour, reason, simulated, writer) DO UPDATE SET taps = c.taps + excluded.taps
    )
    SELECT id, at, reason, counter, last_counter, coalesce(away < 30 * day, false), coalesce(away < day, false)
    FROM known;
    -- The first time that a tag's inlay reports an open loop. Rows are locked last, by tag.
    IF 'open' = ANY (tampers) OR 'reclosed' = ANY (tampers) THEN
        INSERT INTO opened_tags (tag_id, at, interaction_id)
        SELECT DISTINCT ON (tag_id) tag_id, moment + ahead, id
        FROM unnest(ids, tags, tampers, offsets) AS t (id, tag_id, tamper, ahead)
        WHERE tamper IN ('open', 'reclosed') AND tag_id <> 0 ORDER BY tag_id, id
        ON CONFLICT (tag_id) DO NOTHING;
    END IF;
END $$;

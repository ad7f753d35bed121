-- Records taps, all or none. A NULL reason is decided by the counter, as `CounterState::accept` does in Rust, or, for
-- a chip without a MAC (`mirrors`), as `MirrorState::show` does; one test drives both with the same cases. The reason
-- `blocked` with a key version is of an authentic code whose inlay is blocked: its counter moves, and it verifies
-- nothing.
--
-- A batch whose answer was lost is sent again with `again`, and gets the answer for the rows that it recorded before.
-- The lock on its first id lets a batch that still runs end first.
--
-- Rows are locked in one order by everybody: counters by inlay, visits by tag and client. So both statements that lock
-- them sort the batch and look up row by row; the settings leave no other plan.
--
-- Its statements are planned once in a session. The planner would sometimes prefer a plan for each batch, and making one
-- takes longer than the batch. Each statement costs a batch as much as a row of it, so there are few. Arrays become rows
-- in lists of results, because `unnest` in FROM stores the rows of each array first, which costs more than the rest.
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
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
    SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
    day CONSTANT BIGINT := 86400000;
    size CONSTANT INTEGER := cardinality(ids);
    locked TEXT;
    transaction BIGINT;
    moment BIGINT;
    tap RECORD;
    state counters%ROWTYPE;
    behind BIGINT;
    rise BIGINT;
    places INTEGER[];
    numbers BIGINT[];
    verdicts TEXT[];
    visitor_places INTEGER[];
    visitor_times BIGINT[];
    several BIGINT[];
    never CONSTANT BIGINT := -1e15;
    -- The previous interaction of each tap's tag, NULL for none, and the time of its visitor's previous one.
    earlier BIGINT[] := array_fill(NULL::BIGINT, ARRAY[size]);
    earlier_at BIGINT[] := array_fill(never, ARRAY[size]);
BEGIN
    -- An assignment, because PERFORM would run a query.
    locked := pg_advisory_xact_lock(ids[1]);
    IF again THEN
        RETURN QUERY SELECT id, at, reason, counter, last_counter, returning_month, returning_day
            FROM interactions WHERE id = ANY (ids);
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;

    IF true = ANY (mirrors) THEN
        moment := present();
    END IF;
    -- The counters of inlays with one tap in the batch. A refused code locks nothing, unless its chip has no MAC. An inlay
    -- with several taps is only locked here, in its turn: the loop below decides its taps, one after the other.
    WITH moved AS (
        UPDATE counters c SET
            before = c.last,
            last = CASE
                WHEN code.taps > 1 THEN c.last
                WHEN code.mirrored AND risen_to(code.counter, code.today, c.last, c.risen_on, c.risen) IS NULL THEN c.last
                ELSE code.counter
            END,
            seen = CASE
                WHEN code.taps > 1 OR code.mirrored THEN c.seen
                WHEN code.counter - c.last < 64 THEN 1 | (c.seen << (code.counter - c.last)::INTEGER)
                ELSE 1
            END,
            -- The day of the tap's own world, as MirrorState counts it.
            risen_on = CASE
                WHEN code.mirrored AND code.taps = 1
                    AND risen_to(code.counter, code.today, c.last, c.risen_on, c.risen) IS NOT NULL THEN code.today
                ELSE c.risen_on
            END,
            risen = CASE
                WHEN code.mirrored AND code.taps = 1
                    THEN coalesce(risen_to(code.counter, code.today, c.last, c.risen_on, c.risen), c.risen)
                ELSE c.risen
            END
        FROM (
            SELECT inlay, count(*) AS taps, min(place) AS place, max(key_version) AS key_version, max(counter) AS counter,
                bool_or(mirrored) AS mirrored, max(decided) AS decided, max((moment + ahead) / day) AS today
            FROM (
                SELECT generate_subscripts(ids, 1) AS place, unnest(inlays) AS inlay, unnest(key_versions) AS key_version,
                    unnest(read_counters) AS counter, unnest(mirrors) AS mirrored, unnest(reasons) AS decided,
                    unnest(offsets) AS ahead
            ) AS code
            WHERE inlay IS NOT NULL AND (decided IS NULL OR decided = 'blocked' AND key_version IS NOT NULL)
            GROUP BY inlay ORDER BY inlay
        ) AS code
        WHERE c.inlay_id = code.inlay AND (
            code.taps > 1 OR c.key_version = code.key_version AND (code.mirrored OR c.last < code.counter)
        )
        RETURNING code.place, code.taps, code.decided, c.before, CASE
            WHEN NOT code.mirrored THEN 'verified'
            WHEN code.counter > c.before AND c.last = c.before THEN 'jumped'
            ELSE 'no_mac'
        END AS reason
    )
    SELECT array_agg(place), array_agg(before), array_agg(reason) INTO places, numbers, verdicts
    FROM moved WHERE taps = 1 AND decided IS NULL;
    FOR n IN 1 .. coalesce(cardinality(places), 0) LOOP
        reasons[places[n]] := verdicts[n];
        lasts[places[n]] := numbers[n];
    END LOOP;

    IF array_position(reasons, NULL) IS NOT NULL OR 'blocked' = ANY (reasons) THEN
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
                lasts[tap.place] := state.last;
                reasons[tap.place] := 'no_mac';
                rise := risen_to(tap.counter, (moment + tap.ahead) / day, state.last, state.risen_on, state.risen);
                IF rise IS NOT NULL THEN
                    UPDATE counters SET last = tap.counter, risen_on = (moment + tap.ahead) / day, risen = rise
                        WHERE inlay_id = tap.inlay;
                ELSIF tap.counter > state.last THEN
                    reasons[tap.place] := 'jumped';
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
    END IF;

    moment := present();
    -- Tag by tag, and the row of all clients first. The order in which rows return is not promised, so they are sorted by
    -- the primary key, as `visit` is: the values of the one list belong to the places of the other.
    WITH visit AS MATERIALIZED (
        SELECT tag_id, visitor, min(place) AS place, count(*) AS taps, max(at) AS at, max(id) AS id
        FROM (
            SELECT generate_subscripts(ids, 1) AS place, unnest(ids) AS id, unnest(tags) AS tag_id,
                unnest(clients) AS client, moment + unnest(offsets) AS at
        ) AS tap, LATERAL (VALUES (''::BYTEA), (client)) AS visitors (visitor)
        GROUP BY tag_id, visitor ORDER BY tag_id, visitor
    ), visited AS (
        INSERT INTO visits AS v (tag_id, client, scans, last_at, last_interaction)
        SELECT tag_id, visitor, taps, at, id FROM visit
        ON CONFLICT (tag_id, client) DO UPDATE SET
            before = v.last_interaction, before_at = v.last_at, scans = v.scans + excluded.scans,
            last_at = greatest(v.last_at, excluded.last_at), last_interaction = excluded.last_interaction
        RETURNING tag_id, client, before, before_at
    )
    SELECT array_agg(before ORDER BY tag_id, client) FILTER (WHERE client = ''),
        array_agg(before_at ORDER BY tag_id, client) FILTER (WHERE client <> ''),
        (SELECT array_agg(place) FILTER (WHERE visitor = '') FROM visit),
        (SELECT array_agg(place) FILTER (WHERE visitor <> '') FROM visit),
        (SELECT array_agg(tag_id) FROM visit WHERE visitor = '' AND taps > 1)
    INTO numbers, visitor_times, places, visitor_places, several
    FROM visited;
    FOR n IN 1 .. cardinality(places) LOOP
        earlier[places[n]] := numbers[n];
    END LOOP;
    FOR n IN 1 .. cardinality(visitor_places) LOOP
        earlier_at[visitor_places[n]] := coalesce(visitor_times[n], never);
    END LOOP;
    IF several IS NOT NULL THEN
        -- Several taps of a tag, in the order of their ids, which are reserved before taps join their group. The
        -- highest id is the last interaction of its tag above, and any other order would leave some out of the chain.
        -- Until here, the first place of a tag or visitor has the value for all of its taps.
        SELECT array_agg(place), array_agg(before), array_agg(before_at) INTO places, numbers, visitor_times
        FROM (
            SELECT place,
                coalesce(lag(id) OVER (PARTITION BY tag_id ORDER BY id),
                    earlier[min(place) OVER (PARTITION BY tag_id)]) AS before,
                coalesce(lag(at) OVER (PARTITION BY tag_id, client ORDER BY id),
                    earlier_at[min(place) OVER (PARTITION BY tag_id, client)]) AS before_at
            FROM (
                SELECT generate_subscripts(ids, 1) AS place, unnest(ids) AS id, unnest(tags) AS tag_id,
                    unnest(clients) AS client, moment + unnest(offsets) AS at
            ) AS tap
            WHERE tag_id = ANY (several)
        ) AS tap;
        FOR n IN 1 .. cardinality(places) LOOP
            earlier[places[n]] := numbers[n];
            earlier_at[places[n]] := visitor_times[n];
        END LOOP;
    END IF;

    transaction := pg_current_xact_id()::TEXT::BIGINT;
    RETURN QUERY
    WITH recorded AS (
        INSERT INTO interactions (id, at, tag_id, previous, inlay_id, experience_id, experience_version, counter,
            last_counter, returning_month, returning_day, key_issued, simulated, reason, tech, country, uid, client,
            tamper, file_data, seq, key_hash, url_digest, system, language, visitor_group, recall_group_id)
        SELECT unnest(ids), moment + unnest(offsets), unnest(tags), unnest(earlier), unnest(inlays),
            unnest(experiences), unnest(versions), unnest(read_counters), unnest(lasts),
            moment + unnest(offsets) - unnest(earlier_at) < 30 * day,
            moment + unnest(offsets) - unnest(earlier_at) < day,
            unnest(hashes) IS NOT NULL, unnest(simulations), unnest(reasons), unnest(techs), unnest(countries),
            unnest(uids), unnest(clients), unnest(tampers), unnest(file_datas), transaction, unnest(hashes),
            unnest(url_digests), unnest(systems), unnest(languages), unnest(visitor_groups), unnest(recalls)
        RETURNING id, at, reason, counter, last_counter, returning_month, returning_day, simulated
    ), counted AS (
        INSERT INTO tap_counts AS c (hour, reason, simulated, writer, taps)
        SELECT at / 3600000, reason, simulated, record_taps.writer, count(*) FROM recorded
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (hour, reason, simulated, writer) DO UPDATE SET taps = c.taps + excluded.taps
    )
    SELECT id, at, reason, counter, last_counter, returning_month, returning_day FROM recorded;
    -- The first time that a tag's inlay reports an open loop. Rows are locked last, by tag.
    IF 'open' = ANY (tampers) OR 'reclosed' = ANY (tampers) THEN
        INSERT INTO opened_tags (tag_id, at, interaction_id)
        SELECT DISTINCT ON (tag_id) tag_id, moment + ahead, id
        FROM unnest(ids, tags, tampers, offsets) AS t (id, tag_id, tamper, ahead)
        WHERE tamper IN ('open', 'reclosed') AND tag_id <> 0 ORDER BY tag_id, id
        ON CONFLICT (tag_id) DO NOTHING;
    END IF;
END $$;

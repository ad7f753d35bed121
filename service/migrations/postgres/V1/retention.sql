-- Retention. Most of the history goes by the week: a partition is dropped when all
-- of it is due. A row whose id does not tell its time goes by itself, when it is due
-- by its own: it was moved here, or reserved while a clock was wrong. What is told of
-- an interaction (updates, refused_updates, payload_reads, left_out) goes before it, so
-- that nothing outlives it.

-- Removes what is told of the interactions `ids`.
CREATE FUNCTION drop_traces(ids BIGINT[]) RETURNS VOID LANGUAGE sql AS $$
    DELETE FROM updates WHERE interaction_id = ANY (ids);
    DELETE FROM refused_updates WHERE interaction_id = ANY (ids);
    DELETE FROM payload_reads WHERE interaction_id = ANY (ids);
    DELETE FROM left_out WHERE interaction_id = ANY (ids);
$$;

-- Removes some of what is told of the interactions from `low` to `high`; answers of how many.
CREATE FUNCTION drop_traces_between(low BIGINT, high BIGINT, batch BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    traced CONSTANT BIGINT[] := ARRAY (
        (SELECT interaction_id FROM updates WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM refused_updates WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM payload_reads WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM left_out WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch));
BEGIN
    PERFORM drop_traces(traced);
    RETURN cardinality(traced);
END $$;

-- Drops the oldest partition of the history if all of it was before `keep_since`:
-- first what is told of it, some at a time. Answers how much was done; 0 where
-- nothing is due. Dropping needs the history for itself for a moment: where that
-- does not come at once, it is left for the next time, and no tap waits long. A
-- partition's name is the day on which its week began; ids are reserved at most a
-- minute before their interactions.
CREATE FUNCTION drop_partition(keep_since BIGINT, batch BIGINT) RETURNS BIGINT LANGUAGE plpgsql
    SET lock_timeout = '100ms' AS $$
DECLARE
    oldest TEXT;
    low BIGINT;
    high BIGINT;
    removed BIGINT;
BEGIN
    SELECT min(relname) INTO oldest FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'interactions'::REGCLASS AND relname <> 'interactions_moved';
    IF to_date(right(oldest, 10), 'YYYY_MM_DD') + 7 > to_timestamp(keep_since / 1000 - 60) AT TIME ZONE 'UTC'
        OR oldest IS NULL
    THEN
        RETURN 0;
    END IF;
    EXECUTE format('SELECT min(id), max(id) FROM %I', oldest) INTO low, high;
    removed := drop_traces_between(low, high, batch);
    IF removed > 0 THEN
        RETURN removed;
    END IF;
    EXECUTE format('DROP TABLE %I', oldest);
    RETURN batch;
EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
END $$;

-- Removes rows of the history that are due by their own time, some at a time, and
-- what is told of them; answers how many. Of the weeks only what should have gone
-- with a partition long ago: the rest goes with one, which is far cheaper.
CREATE FUNCTION drop_due(keep_since BIGINT, batch BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    overdue CONSTANT BIGINT := keep_since - 8 * 86400000::BIGINT;
    due BIGINT[] := ARRAY (SELECT id FROM interactions WHERE at < overdue ORDER BY at LIMIT batch);
BEGIN
    IF cardinality(due) = 0 AND to_regclass('interactions_moved') IS NOT NULL THEN
        due := ARRAY (SELECT id FROM interactions_moved WHERE at < keep_since ORDER BY at LIMIT batch);
    END IF;
    IF cardinality(due) > 0 THEN
        PERFORM drop_traces(due);
        -- Written out, so that partitions without any of them are not looked into.
        EXECUTE format('DELETE FROM interactions WHERE id = ANY (%L::BIGINT[])', due);
    END IF;
    RETURN cardinality(due);
END $$;

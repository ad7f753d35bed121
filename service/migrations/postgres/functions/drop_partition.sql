-- Drops the oldest partition of the history if all of it was before `keep_since`, after the rows that belong to it,
-- some at a time. Returns how much was done; 0 if nothing is due. A partition's name is the day on which its week
-- began; ids are reserved at most a minute before their interactions.
--
-- Dropping needs an exclusive lock on the history for a moment. If that is not free at once, it is left for the next
-- time, so that no tap waits long.
CREATE OR REPLACE FUNCTION drop_partition(keep_since BIGINT, batch BIGINT) RETURNS BIGINT LANGUAGE plpgsql
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

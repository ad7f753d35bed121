-- Drops the oldest partition of the history if all of it was before `keep_since`;
-- says whether there was one. It needs the history for itself for a moment: where
-- that does not come at once, it is left for the next time, and no tap waits long.
-- A partition's name is the day on which its week began; ids are reserved at most
-- a minute before their interactions.
CREATE FUNCTION drop_partition(keep_since BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql
    SET lock_timeout = '100ms' AS $$
DECLARE
    oldest TEXT;
BEGIN
    SELECT min(relname) INTO oldest FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'interactions'::REGCLASS;
    IF to_date(right(oldest, 10), 'YYYY_MM_DD') + 7 > to_timestamp(keep_since / 1000 - 60) AT TIME ZONE 'UTC'
        OR oldest IS NULL
    THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE %I', oldest);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;

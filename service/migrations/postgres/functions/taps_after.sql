-- The first taps after a place in the order of commits: only `settled` ones, before which no further tap can appear, or
-- all. They are read from the index in that order, however many follow. The planner cannot tell how many have a higher
-- number than a given one, and would read and sort all of them, for each of the pieces in which they are counted.
--
-- Only partitions with ids above `since` are searched, for callers that know that no earlier ones follow the place.
CREATE OR REPLACE FUNCTION taps_after(seq BIGINT, id BIGINT, most BIGINT, settled BOOLEAN, since BIGINT DEFAULT 0)
    RETURNS SETOF interactions LANGUAGE plpgsql STABLE ROWS 5000
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    before CONSTANT BIGINT := CASE WHEN settled THEN settled_before() ELSE 9223372036854775807 END;
BEGIN
    RETURN QUERY SELECT * FROM interactions i
        WHERE (i.seq, i.id) > (taps_after.seq, taps_after.id) AND i.seq < before AND i.id > since
        ORDER BY i.seq, i.id LIMIT most;
END $$;

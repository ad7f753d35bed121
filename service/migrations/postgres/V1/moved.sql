-- A history that was moved here from SQLite. Its interactions keep their ids,
-- since keys carry them, and such ids tell nothing of time: it has a partition of
-- its own, below all others, and a table that tells time from ids.

-- Before `id`, no interaction of real time is newer than `newest`.
CREATE TABLE moved_history (
    id     BIGINT PRIMARY KEY,
    newest BIGINT NOT NULL
);

-- Makes room for interactions up to `last`. New ones come after it: what is left
-- of its week is a partition like others.
CREATE FUNCTION receive_history(last BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    week CONSTANT BIGINT := (7 * 86400)::BIGINT << 21;
    first CONSTANT BIGINT := last - last % week;
BEGIN
    EXECUTE format('CREATE TABLE interactions_moved PARTITION OF interactions FOR VALUES FROM (MINVALUE) TO (%s)',
        last + 1);
    IF last + 1 < first + week THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF interactions FOR VALUES FROM (%s) TO (%s)',
            'interactions_' || to_char(to_timestamp((first >> 21) + 1577836800) AT TIME ZONE 'UTC', 'YYYY_MM_DD'),
            last + 1, first + week);
    END IF;
    PERFORM setval('interaction_ids', last + 256 - last % 256);
END $$;

-- Notes when the received interactions were, day by day.
CREATE FUNCTION date_history() RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO moved_history (id, newest)
    SELECT max(id) + 1, max(newest)
    FROM (SELECT id, max(at) FILTER (WHERE NOT simulated) OVER (ORDER BY id) AS newest FROM interactions) dated
    WHERE newest IS NOT NULL GROUP BY newest / 86400000
$$;

-- An id at or before all interactions of real time at `since` or later.
CREATE FUNCTION history_since(since BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM moved_history WHERE newest >= since)
        THEN coalesce((SELECT max(id) FROM moved_history WHERE newest < since), 0)
        ELSE first_interaction(since) END
$$;

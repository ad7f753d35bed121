-- An id at or before all interactions of real time at `since` or later.
CREATE OR REPLACE FUNCTION history_since(since BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM moved_history WHERE newest >= since)
        THEN coalesce((SELECT max(id) FROM moved_history WHERE newest < since), 0)
        ELSE first_interaction(since) END
$$;

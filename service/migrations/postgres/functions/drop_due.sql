-- Removes some rows of the history that are due by their own time, and the rows that belong to them; returns how many
-- interactions. Their ids do not tell their time: they were moved here, or reserved while a clock was wrong. In
-- partitions of weeks, it only removes rows that should have been dropped long before, because dropping a partition
-- is far cheaper.
CREATE OR REPLACE FUNCTION drop_due(keep_since BIGINT, batch BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    overdue CONSTANT BIGINT := keep_since - 8 * 86400000::BIGINT;
    due BIGINT[] := ARRAY (SELECT id FROM interactions WHERE at < overdue ORDER BY at LIMIT batch);
BEGIN
    IF cardinality(due) = 0 AND to_regclass('interactions_moved') IS NOT NULL THEN
        due := ARRAY (SELECT id FROM interactions_moved WHERE at < keep_since ORDER BY at LIMIT batch);
    END IF;
    IF cardinality(due) > 0 THEN
        PERFORM drop_traces(due);
        -- With literals, the planner leaves out partitions without any of them.
        EXECUTE format('DELETE FROM interactions WHERE id = ANY (%L::BIGINT[])', due);
    END IF;
    RETURN cardinality(due);
END $$;

-- Every transaction with a lower number has ended, so all its rows are visible, and no more can come.
CREATE OR REPLACE FUNCTION settled_before() RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT::BIGINT
$$;

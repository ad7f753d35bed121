-- The distance between ids that are a week apart, which is the span of a partition.
CREATE OR REPLACE FUNCTION week() RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT (7 * 86400)::BIGINT << 21
$$;

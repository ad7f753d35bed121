-- The name of the partition of the interaction `id`, whether or not it exists.
CREATE OR REPLACE FUNCTION partition_of(id BIGINT) RETURNS TEXT LANGUAGE sql STABLE AS $$
    SELECT 'interactions_'
        || to_char(to_timestamp((id - id % week() >> 21) + 1577836800) AT TIME ZONE 'UTC', 'YYYY_MM_DD')
$$;

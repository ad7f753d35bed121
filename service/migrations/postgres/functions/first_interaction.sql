-- The first id that can be reserved in the second of `at`.
CREATE OR REPLACE FUNCTION first_interaction(at BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT (at / 1000 - 1577836800) << 21
$$;

-- The present in milliseconds since the Unix epoch. It is PL/pgSQL, because a function in SQL is parsed and planned
-- again in each statement that calls it.
CREATE OR REPLACE FUNCTION present() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT coalesce(stands_at, ahead + floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)
        FROM clock);
END $$;

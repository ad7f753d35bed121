-- How far the time of the simulated world is ahead, in milliseconds.
CREATE OR REPLACE FUNCTION simulated_ahead() RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT value::BIGINT FROM settings WHERE name = 'simulated_ahead'), 0)
$$;

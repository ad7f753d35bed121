-- What each payload asks is planned once in a session, and not at each question.
--
-- A plan for one id looks at every partition of the history, of which a year has 52, to leave out
-- all but one: that takes twice as long as all the rest. A plan for any id leaves them out as it
-- runs. The planner would choose the other one each time, since it counts all of them as read.
CREATE FUNCTION interaction_of(id BIGINT) RETURNS SETOF interactions LANGUAGE plpgsql STABLE ROWS 1
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT * FROM interactions i WHERE i.id = interaction_of.id;
END $$;

-- In PL/pgSQL, too: a function in SQL is parsed and planned again in each statement that calls it.
CREATE OR REPLACE FUNCTION present() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT coalesce(stands_at, ahead + floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)
        FROM clock);
END $$;

CREATE OR REPLACE FUNCTION keys_expired_to(of_simulated BOOLEAN) RETURNS BIGINT LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT CASE WHEN of_simulated THEN greatest(up_to, simulated_up_to) ELSE up_to END
        FROM expired_keys), 0);
END $$;

-- The interaction `id`. Its query is planned once in a session, not for each payload.
--
-- A plan for one id examines every partition of the history, of which a year has 52, to leave out all but one, which
-- takes twice as long as all the rest. A plan for any id leaves them out when it runs. The planner would choose the
-- other one each time, because it counts all of them as read.
CREATE OR REPLACE FUNCTION interaction_of(id BIGINT) RETURNS SETOF interactions LANGUAGE plpgsql STABLE ROWS 1
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT * FROM interactions i WHERE i.id = interaction_of.id;
END $$;

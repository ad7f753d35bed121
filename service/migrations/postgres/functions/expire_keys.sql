-- Expires all keys that were issued until now: those of the simulated world, or all.
CREATE OR REPLACE FUNCTION expire_keys(only_simulated BOOLEAN) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    newest BIGINT;
BEGIN
    -- Waits for taps that have already read the clock.
    LOCK TABLE interactions IN SHARE MODE;
    SELECT coalesce(max(i.id), 0) INTO newest FROM interactions i;
    INSERT INTO expired_keys AS e
    VALUES (1, CASE WHEN only_simulated THEN 0 ELSE newest END, newest,
        CASE WHEN only_simulated THEN -9223372036854775808 ELSE present() - 300000 END)
    ON CONFLICT (id) DO UPDATE SET up_to = greatest(e.up_to, excluded.up_to),
        simulated_up_to = excluded.simulated_up_to, looked_to = least(e.looked_to, excluded.looked_to);
END $$;

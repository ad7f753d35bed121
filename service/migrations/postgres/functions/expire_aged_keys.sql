-- Expires keys that have become too old since the last call. The time of simulated interactions is never behind, so
-- they can show that earlier ones are too old.
--
-- A call reads the interactions that became too old since the last one, in the order of their times, and at most `most`
-- and those of the last one's millisecond. The planner would prefer to look for the highest id by reading the whole
-- history backwards, which ends late, or, after a minute without taps, never.
CREATE OR REPLACE FUNCTION expire_aged_keys(most BIGINT DEFAULT 50000) RETURNS VOID LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    never CONSTANT BIGINT := -9223372036854775808;
    until CONSTANT BIGINT := present() - 300000;
    before CONSTANT BIGINT := coalesce((SELECT looked_to FROM expired_keys), never);
    newest BIGINT;
    latest BIGINT;
    taken BIGINT;
    reached BIGINT := until;
BEGIN
    IF before = never THEN
        -- Nearly all are too old: the newest of them follows soon, behind those of five minutes.
        newest := coalesce((SELECT max(i.id) FROM interactions i WHERE i.at <= until), 0);
    ELSE
        SELECT max(piece.id), max(piece.at), count(*) INTO newest, latest, taken FROM (
            SELECT i.id, i.at FROM interactions i WHERE i.at > before AND i.at <= until
            ORDER BY i.at FETCH FIRST (most) ROWS WITH TIES
        ) AS piece;
        IF taken >= most THEN
            reached := latest;
        END IF;
    END IF;
    -- Without any, the next call looks from the same time on, and a service without taps writes nothing.
    IF newest IS NOT NULL THEN
        INSERT INTO expired_keys AS e VALUES (1, newest, 0, reached)
        ON CONFLICT (id) DO UPDATE SET up_to = greatest(e.up_to, excluded.up_to), looked_to = excluded.looked_to;
    END IF;
END $$;

-- Stores until when the received interactions were, day by day, because their ids do not tell their time.
CREATE OR REPLACE FUNCTION date_history() RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO moved_history (id, newest)
    SELECT max(id) + 1, max(newest)
    FROM (SELECT id, max(at) FILTER (WHERE NOT simulated) OVER (ORDER BY id) AS newest FROM interactions) dated
    WHERE newest IS NOT NULL GROUP BY newest / 86400000
$$;

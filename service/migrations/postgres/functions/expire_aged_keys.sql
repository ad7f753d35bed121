-- Expires keys that have become too old since the last call. The time of simulated interactions is never behind, so
-- they can show that earlier ones are too old.
CREATE OR REPLACE FUNCTION expire_aged_keys() RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    until CONSTANT BIGINT := present() - 300000;
    before CONSTANT BIGINT := coalesce((SELECT looked_to FROM expired_keys), -9223372036854775808);
    newest CONSTANT BIGINT := (SELECT max(i.id) FROM interactions i WHERE i.at > before AND i.at <= until);
BEGIN
    IF newest IS NOT NULL THEN
        INSERT INTO expired_keys AS e VALUES (1, newest, 0, until)
        ON CONFLICT (id) DO UPDATE SET up_to = greatest(e.up_to, excluded.up_to), looked_to = excluded.looked_to;
    END IF;
END $$;

-- Makes room for interactions up to `last`, in a partition below all others. New ones come after it; the rest of its
-- week is a partition like others.
CREATE OR REPLACE FUNCTION receive_history(last BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    week CONSTANT BIGINT := (7 * 86400)::BIGINT << 21;
    first CONSTANT BIGINT := last - last % week;
BEGIN
    EXECUTE format('CREATE TABLE interactions_moved PARTITION OF interactions FOR VALUES FROM (MINVALUE) TO (%s)',
        last + 1);
    IF last + 1 < first + week THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF interactions FOR VALUES FROM (%s) TO (%s)',
            'interactions_' || to_char(to_timestamp((first >> 21) + 1577836800) AT TIME ZONE 'UTC', 'YYYY_MM_DD'),
            last + 1, first + week);
    END IF;
    PERFORM setval('interaction_ids', last + 256 - last % 256);
END $$;

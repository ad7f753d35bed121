-- Reserves 256 ids and returns the first of them. Ids never run backwards, whatever the clock does.
CREATE OR REPLACE FUNCTION reserve_interactions() RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    beginning CONSTANT BIGINT := first_interaction(present());
    reserved BIGINT := nextval('interaction_ids');
BEGIN
    IF reserved < beginning THEN
        -- A new second has begun. One node moves the sequence for all.
        PERFORM pg_advisory_xact_lock(1413566532, 3);
        reserved := nextval('interaction_ids');
        IF reserved < beginning THEN
            reserved := setval('interaction_ids', beginning);
            PERFORM make_partition(beginning);
            -- A day ahead, so that no tap waits for it, and a failure can be repeated.
            BEGIN
                PERFORM make_partition(beginning + (86400::BIGINT << 21));
            EXCEPTION WHEN lock_not_available THEN NULL;
            END;
        END IF;
    END IF;
    IF to_regclass(partition_of(reserved)) IS NULL THEN
        -- Sequences are outside transactions: the node that creates it has not committed yet.
        PERFORM pg_advisory_xact_lock(1413566532, 3);
        PERFORM make_partition(reserved);
    END IF;
    RETURN reserved;
END $$;

-- Creates the partition of the interaction `id` if it is missing.
CREATE OR REPLACE FUNCTION make_partition(id BIGINT) RETURNS VOID LANGUAGE plpgsql
    SET lock_timeout = '1s' AS $$
DECLARE
    first CONSTANT BIGINT := id - id % week();
    partition CONSTANT TEXT := partition_of(id);
BEGIN
    IF to_regclass(partition) IS NULL THEN
        -- Creating and then attaching it waits for no reads or writes.
        EXECUTE format('CREATE TABLE %I (LIKE interactions)', partition);
        EXECUTE format('ALTER TABLE interactions ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
            partition, first, first + week());
    END IF;
END $$;

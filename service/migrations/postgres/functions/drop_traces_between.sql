-- Removes some of the rows that belong to the interactions from `low` to `high`; returns how many interactions.
CREATE OR REPLACE FUNCTION drop_traces_between(low BIGINT, high BIGINT, batch BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    traced CONSTANT BIGINT[] := ARRAY (
        (SELECT interaction_id FROM updates WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM refused_updates WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM payload_reads WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM left_out WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM same_browser WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch)
        UNION
        (SELECT interaction_id FROM staff_notes WHERE interaction_id BETWEEN low AND high
            ORDER BY interaction_id LIMIT batch));
BEGIN
    PERFORM drop_traces(traced);
    RETURN cardinality(traced);
END $$;

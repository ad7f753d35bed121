-- Removes the rows that belong to the interactions `ids`. They are removed first, so that none outlives its
-- interaction.
CREATE OR REPLACE FUNCTION drop_traces(ids BIGINT[]) RETURNS VOID LANGUAGE sql AS $$
    DELETE FROM updates WHERE interaction_id = ANY (ids);
    DELETE FROM refused_updates WHERE interaction_id = ANY (ids);
    DELETE FROM payload_reads WHERE interaction_id = ANY (ids);
    DELETE FROM left_out WHERE interaction_id = ANY (ids);
    DELETE FROM same_browser WHERE interaction_id = ANY (ids);
    DELETE FROM staff_notes WHERE interaction_id = ANY (ids);
$$;

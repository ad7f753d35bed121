-- As before, with a lock for forms that can be sent once per tag.

-- Makes updates, each for itself. The keys and values of the one at a place are
-- those from its first to its last. A key is locked by the id of its interaction.
CREATE OR REPLACE FUNCTION update_variables(
    interactions BIGINT[], hashes BYTEA[], attempts BIGINT[], requests BYTEA[], offsets BIGINT[],
    firsts INTEGER[], lasts INTEGER[], keys TEXT[], new_values TEXT[], sent TEXT[]
) RETURNS TABLE (place BIGINT, outcome TEXT, of_tag BIGINT, decided_at BIGINT, is_simulated BOOLEAN, detail TEXT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    next RECORD;
    expired CONSTANT BIGINT := keys_expired_to(false);
    simulated_expired CONSTANT BIGINT := keys_expired_to(true);
BEGIN
    PERFORM pg_advisory_xact_lock(locked.id)
        FROM (SELECT unnest(update_variables.interactions) AS id ORDER BY 1) AS locked;
    FOR next IN
        SELECT u.*, k.tag_id, k.at, k.simulated, k.reason = 'verified' AS verified,
            coalesce(k.key_hash = u.hash, false)
                AND u.interaction > CASE WHEN k.simulated THEN simulated_expired ELSE expired END AS valid
        FROM unnest(update_variables.interactions, hashes, attempts, requests, offsets, firsts, lasts, sent)
                WITH ORDINALITY AS u (interaction, hash, attempt, request, ahead, first, last, form, place)
            LEFT JOIN LATERAL (
                -- LIMIT has each looked up by itself, in its own partition alone.
                SELECT i.tag_id, i.at, i.simulated, i.reason, i.key_hash FROM interactions i
                WHERE i.id = u.interaction LIMIT 1
            ) k ON TRUE
        ORDER BY k.tag_id, u.place
    LOOP
        -- Updates of one form may set different variables of it, whose locks do not meet. Tags are
        -- locked in their order, each before its variables.
        IF (next.form::JSON ->> 'once')::BOOLEAN THEN
            PERFORM pg_advisory_xact_lock(1413566534, hashint8(next.tag_id));
        END IF;
        RETURN QUERY SELECT next.place, done.* FROM update_variables_of(next.interaction, next.tag_id, next.at,
            next.simulated, next.verified, next.valid, next.attempt, next.request,
            keys[next.first:next.last], new_values[next.first:next.last], next.ahead, next.form::JSON) AS done;
    END LOOP;
END $$;

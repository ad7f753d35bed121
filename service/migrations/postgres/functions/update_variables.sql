-- Makes updates, each independent of the others. `firsts` and `lasts` are the ranges of each in `keys` and
-- `new_values`. The id of its interaction locks a key.
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
                -- LIMIT makes it look up each id by itself, in one partition.
                SELECT i.tag_id, i.at, i.simulated, i.reason, i.key_hash FROM interactions i
                WHERE i.id = u.interaction LIMIT 1
            ) k ON TRUE
        ORDER BY k.tag_id, u.place
    LOOP
        -- Updates of one form may set different variables, so their locks do not meet. Tags are locked in
        -- their order, each before its variables.
        IF (next.form::JSON ->> 'once')::BOOLEAN THEN
            PERFORM pg_advisory_xact_lock(1413566534, hashint8(next.tag_id));
        END IF;
        RETURN QUERY SELECT next.place, done.* FROM update_variables_of(next.interaction, next.tag_id, next.at,
            next.simulated, next.verified, next.valid, next.attempt, next.request,
            keys[next.first:next.last], new_values[next.first:next.last], next.ahead, next.form::JSON) AS done;
    END LOOP;
END $$;

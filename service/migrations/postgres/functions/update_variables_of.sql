-- Consumes a key, which is locked, and writes its variables, or returns why not. `detail` then has the changes
-- (JSON), or the variable that is missing. `attempt` is a number that no other attempt has: an attempt whose answer
-- was lost is repeated with it, and gets the same answer. `sent` is the form of the update; NULL for none. A form
-- that its owner can make possible is kept; then its outcome ends with `_kept`.
--
-- Hashes are not compared in constant time. The time may reveal something about the hash of a guess, but nothing
-- about a key.
CREATE OR REPLACE FUNCTION update_variables_of(
    interaction BIGINT, key_tag BIGINT, issued_at BIGINT, simulated BOOLEAN, verified BOOLEAN, valid BOOLEAN,
    attempt BIGINT, asked BYTEA, keys TEXT[], new_values TEXT[], ahead BIGINT, sent JSON
) RETURNS TABLE (outcome TEXT, of_tag BIGINT, decided_at BIGINT, is_simulated BOOLEAN, detail TEXT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lifetime CONSTANT BIGINT := 300000;
    done updates%ROWTYPE;
    tag RECORD;
    old_values TEXT[];
    erased_values BOOLEAN[];
BEGIN
    IF NOT valid THEN
        outcome := 'invalid_key';
        RETURN NEXT;
        RETURN;
    END IF;
    of_tag := key_tag;
    is_simulated := simulated;
    decided_at := present() + CASE WHEN simulated THEN ahead ELSE 0 END;
    SELECT * INTO done FROM updates WHERE interaction_id = interaction;
    IF done.attempt = update_variables_of.attempt THEN
        outcome := 'done';
        decided_at := done.at;
        detail := done.changes;
    ELSIF decided_at < issued_at OR decided_at - issued_at >= lifetime THEN
        outcome := 'invalid_key';
    ELSIF done.at IS NOT NULL THEN
        outcome := CASE WHEN done.request = asked THEN 'repeated' ELSE 'consumed' END;
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT t.deleted_at, t.updates_require_verified, led_to(t.experience_id, t.group_id) IS NOT NULL
        OR recalled_to(t.group_id) IS NOT NULL AS assigned INTO tag FROM tags t WHERE t.id = key_tag;
    -- Twice, because the second query sees variables that an edit replaced meanwhile.
    FOR look IN 1..2 LOOP
        SELECT array_agg(p.value ORDER BY wanted.place), array_agg(p.erased ORDER BY wanted.place)
        INTO old_values, erased_values
        FROM unnest(keys) WITH ORDINALITY AS wanted (key, place) LEFT JOIN (
            SELECT key, value, erased FROM properties
            WHERE tag_id = key_tag AND class = 'variable' AND key = ANY (keys) ORDER BY key FOR UPDATE
        ) p USING (key);
        EXIT WHEN array_position(old_values, NULL) IS NULL;
    END LOOP;
    IF NOT tag.assigned OR tag.deleted_at IS NOT NULL THEN
        outcome := 'not_assigned';
    ELSIF tag.updates_require_verified AND NOT verified THEN
        outcome := 'not_verified';
    ELSIF array_position(old_values, NULL) IS NOT NULL THEN
        outcome := 'unknown_variable';
        detail := keys[array_position(old_values, NULL)];
    ELSIF (sent ->> 'once')::BOOLEAN AND EXISTS (
        -- The variables are locked, so that no other request sends the same form of this tag meanwhile.
        SELECT FROM submissions s
        WHERE s.tag_id = key_tag AND s.form = sent ->> 'form' AND s.refused IS NULL
    ) THEN
        outcome := 'sent_before';
    ELSIF EXISTS (SELECT FROM submissions s WHERE s.interaction_id = interaction AND s.refused IS NULL) THEN
        -- The owner has saved the refused form.
        outcome := 'consumed';
    ELSE
        outcome := 'done';
        UPDATE properties p SET value = n.value, erased = FALSE FROM unnest(keys, new_values) AS n (key, value)
            WHERE p.tag_id = key_tag AND p.class = 'variable' AND p.key = n.key;
        -- An erased value is recorded nowhere.
        SELECT json_agg(json_build_object('key', c.key, 'old', CASE WHEN NOT c.erased THEN c.old END, 'new', c.new)
            ORDER BY c.place) INTO detail
            FROM unnest(keys, old_values, new_values, erased_values)
                WITH ORDINALITY AS c (key, old, new, erased, place);
        -- This row consumes the key.
        INSERT INTO updates (interaction_id, at, changes, request, attempt)
            VALUES (interaction, decided_at, detail, asked, update_variables_of.attempt);
        IF sent IS NOT NULL THEN
            -- Replaces a form that was refused with this key.
            DELETE FROM submissions s WHERE s.interaction_id = interaction;
            INSERT INTO submissions (at, interaction_id, tag_id, experience_id, experience_version, form,
                    verification, simulated, fields, folded, consent)
                VALUES (decided_at, interaction, key_tag, (sent ->> 'experience_id')::BIGINT,
                    (sent ->> 'experience_version')::BIGINT, sent ->> 'form', sent ->> 'verification',
                    is_simulated, sent ->> 'fields', sent ->> 'folded', sent ->> 'consent');
        END IF;
    END IF;
    -- `REFUSED_MAX` says the same in Rust.
    IF outcome IN ('unknown_variable', 'not_assigned') AND sent IS NOT NULL
        AND NOT ((sent ->> 'once')::BOOLEAN AND EXISTS (
            SELECT FROM submissions s
            WHERE s.tag_id = key_tag AND s.form = sent ->> 'form' AND s.refused IS NULL))
        AND NOT EXISTS (SELECT FROM submissions s WHERE s.interaction_id = interaction AND s.refused IS NULL)
        AND (SELECT count(*) FROM submissions s
            WHERE s.tag_id = key_tag AND s.refused IS NOT NULL AND s.interaction_id <> interaction) < 100
    THEN
        INSERT INTO submissions AS s (at, interaction_id, tag_id, experience_id, experience_version, form,
                verification, simulated, fields, folded, consent, refused)
            VALUES (decided_at, interaction, key_tag, (sent ->> 'experience_id')::BIGINT,
                (sent ->> 'experience_version')::BIGINT, sent ->> 'form', sent ->> 'verification',
                is_simulated, sent ->> 'fields', sent ->> 'folded', sent ->> 'consent', outcome)
            ON CONFLICT (interaction_id) DO UPDATE SET at = excluded.at, form = excluded.form,
                fields = excluded.fields, folded = excluded.folded, consent = excluded.consent,
                refused = excluded.refused;
        outcome := outcome || '_kept';
    END IF;
    RETURN NEXT;
END $$;

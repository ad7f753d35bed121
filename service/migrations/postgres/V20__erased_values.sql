-- The variable still has a value that a visitor entered and that was erased: its owner keeps it. No
-- event contains it, and the next change does not record it as the value before.
ALTER TABLE properties ADD COLUMN erased BOOLEAN NOT NULL DEFAULT FALSE;

-- As before, with that.
-- Consumes a key, which is locked, and writes its variables, or says why not; `detail` has the
-- changes then (JSON), or the variable there is none of. `attempt` is a number that no other
-- attempt has: one whose answer was lost is made again with it, and answered with what it did.
-- `sent` is the form that it is of; NULL for none.
--
-- Hashes are compared as they are. How long that takes may tell something of the
-- hash of a guess, and nothing of a key.
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

    SELECT experience_id, deleted_at, updates_require_verified INTO tag FROM tags WHERE id = key_tag;
    -- Twice, because variables that an edit replaced meanwhile are seen the second time.
    FOR look IN 1..2 LOOP
        SELECT array_agg(p.value ORDER BY wanted.place), array_agg(p.erased ORDER BY wanted.place)
        INTO old_values, erased_values
        FROM unnest(keys) WITH ORDINALITY AS wanted (key, place) LEFT JOIN (
            SELECT key, value, erased FROM properties
            WHERE tag_id = key_tag AND class = 'variable' AND key = ANY (keys) ORDER BY key FOR UPDATE
        ) p USING (key);
        EXIT WHEN array_position(old_values, NULL) IS NULL;
    END LOOP;
    IF tag.experience_id IS NULL OR tag.deleted_at IS NOT NULL THEN
        outcome := 'not_assigned';
    ELSIF tag.updates_require_verified AND NOT verified THEN
        outcome := 'not_verified';
    ELSIF array_position(old_values, NULL) IS NOT NULL THEN
        outcome := 'unknown_variable';
        detail := keys[array_position(old_values, NULL)];
    ELSIF (sent ->> 'once')::BOOLEAN AND EXISTS (
        -- The variables are locked: nobody sends the same form of this tag meanwhile.
        SELECT FROM submissions s WHERE s.tag_id = key_tag AND s.form = sent ->> 'form'
    ) THEN
        outcome := 'sent_before';
    ELSE
        outcome := 'done';
        UPDATE properties p SET value = n.value, erased = FALSE FROM unnest(keys, new_values) AS n (key, value)
            WHERE p.tag_id = key_tag AND p.class = 'variable' AND p.key = n.key;
        -- A value before that was erased is recorded nowhere.
        SELECT json_agg(json_build_object('key', c.key, 'old', CASE WHEN NOT c.erased THEN c.old END, 'new', c.new)
            ORDER BY c.place) INTO detail
            FROM unnest(keys, old_values, new_values, erased_values) WITH ORDINALITY AS c (key, old, new, erased, place);
        -- This row is what consumes the key.
        INSERT INTO updates (interaction_id, at, changes, request, attempt)
            VALUES (interaction, decided_at, detail, asked, update_variables_of.attempt);
        IF sent IS NOT NULL THEN
            INSERT INTO submissions (at, interaction_id, tag_id, experience_id, experience_version, form,
                    verification, simulated, fields, folded, consent)
                VALUES (decided_at, interaction, key_tag, (sent ->> 'experience_id')::BIGINT,
                    (sent ->> 'experience_version')::BIGINT, sent ->> 'form', sent ->> 'verification',
                    is_simulated, sent ->> 'fields', sent ->> 'folded', sent ->> 'consent');
        END IF;
    END IF;
    RETURN NEXT;
END $$;

-- A tap whose request had the cookie of an earlier tap of its tag: both are of one visitor.
CREATE TABLE same_browser (
    interaction_id BIGINT PRIMARY KEY,
    earlier        BIGINT NOT NULL
);
CREATE INDEX same_browser_earlier ON same_browser (earlier);

-- As before, with that table.
-- Removes what is told of the interactions `ids`.
CREATE OR REPLACE FUNCTION drop_traces(ids BIGINT[]) RETURNS VOID LANGUAGE sql AS $$
    DELETE FROM updates WHERE interaction_id = ANY (ids);
    DELETE FROM refused_updates WHERE interaction_id = ANY (ids);
    DELETE FROM payload_reads WHERE interaction_id = ANY (ids);
    DELETE FROM left_out WHERE interaction_id = ANY (ids);
    DELETE FROM same_browser WHERE interaction_id = ANY (ids);
$$;

-- Removes some of what is told of the interactions from `low` to `high`; answers of how many.
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
            ORDER BY interaction_id LIMIT batch));
BEGIN
    PERFORM drop_traces(traced);
    RETURN cardinality(traced);
END $$;

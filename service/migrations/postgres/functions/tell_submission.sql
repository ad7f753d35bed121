-- Writes the event of a submission in its commit, if an endpoint gets such events. The delivery reads the content of
-- the submission.
CREATE OR REPLACE FUNCTION tell_submission() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM webhook_types WHERE type = 'submission.created') THEN
        INSERT INTO outbox (at, type, tag_id, experience_id, simulated, data)
        VALUES (NEW.at, 'submission.created', NEW.tag_id, NEW.experience_id, NEW.simulated,
            format('{"submission_id":%s}', NEW.id));
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER tell_submission AFTER INSERT ON submissions FOR EACH ROW WHEN (NEW.refused IS NULL)
    EXECUTE FUNCTION tell_submission();

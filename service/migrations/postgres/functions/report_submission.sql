-- Notes in its commit that a submission is to be counted, unless it was refused.
CREATE OR REPLACE FUNCTION report_submission() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO report_updates (interaction_id, submission)
    SELECT interaction_id, TRUE FROM stored WHERE refused IS NULL;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER report_submission AFTER INSERT ON submissions
    REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION report_submission();

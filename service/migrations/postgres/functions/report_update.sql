-- Notes in its commit that an update is to be counted.
CREATE OR REPLACE FUNCTION report_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO report_updates (interaction_id, submission)
    SELECT interaction_id, FALSE FROM stored;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER report_update AFTER INSERT ON updates
    REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION report_update();

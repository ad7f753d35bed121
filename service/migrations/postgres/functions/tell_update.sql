-- Writes the event of an update in its commit, if an endpoint gets such events.
CREATE OR REPLACE FUNCTION tell_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM webhook_types WHERE type = 'tag.updated') THEN
        INSERT INTO outbox (at, type, tag_id, experience_id, simulated, data)
        SELECT NEW.at, 'tag.updated', t.id, led_to(t.experience_id, t.group_id), i.simulated, json_build_object(
            'tag_id', t.id, 'slug', t.slug, 'tag_name', t.name, 'interaction_id', NEW.interaction_id,
            'changes', NEW.changes::JSON, 'simulated', i.simulated)
        FROM interactions i JOIN tags t ON t.id = i.tag_id WHERE i.id = NEW.interaction_id;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER tell_update AFTER INSERT ON updates FOR EACH ROW EXECUTE FUNCTION tell_update();

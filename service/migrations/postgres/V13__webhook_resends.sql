-- Up to this row of the outbox, deliveries are made again.
ALTER TABLE webhook_states ADD COLUMN again_outbox_seq BIGINT NOT NULL DEFAULT -1;

-- An endpoint that is off gets its events when it is on again: its types are kept.
INSERT INTO webhook_types (type, webhook_id)
    SELECT events.value, w.id FROM webhooks w JOIN webhook_states s ON s.webhook_id = w.id,
        json_array_elements_text(w.fields::JSON -> 'events') AS events (value)
    ON CONFLICT DO NOTHING;

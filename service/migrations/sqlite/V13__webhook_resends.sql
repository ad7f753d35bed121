-- Up to this row of the outbox, deliveries are made again.
ALTER TABLE webhook_states ADD COLUMN again_outbox_seq INTEGER NOT NULL DEFAULT -1;

-- An endpoint that is off gets its events when it is on again: its types are kept.
INSERT OR IGNORE INTO webhook_types (type, webhook_id)
    SELECT events.value, w.id FROM webhooks w JOIN webhook_states s ON s.webhook_id = w.id,
        json_each(w.fields, '$.events') AS events;

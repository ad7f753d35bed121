-- Webhook endpoints, their events and deliveries.

CREATE TABLE webhooks (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    fields          TEXT NOT NULL, -- JSON
    secret          BLOB NOT NULL, -- wrapped
    previous_secret BLOB,          -- wrapped; also signs until previous_until
    previous_until  INTEGER,
    created_at      INTEGER NOT NULL,
    experience_ids  TEXT           -- JSON: the only experiences whose events it gets, those of its token; NULL: all
);

-- The types of events that each endpoint gets. An event that no endpoint gets is not written.
CREATE TABLE webhook_types (
    type       TEXT NOT NULL,
    webhook_id INTEGER NOT NULL,
    PRIMARY KEY (type, webhook_id)
) WITHOUT ROWID;

-- The progress of each endpoint. A restored or moved database has no row, and all its endpoints are off.
CREATE TABLE webhook_states (
    webhook_id       INTEGER PRIMARY KEY,
    enabled          INTEGER NOT NULL,
    disabled         TEXT,                       -- why, if its owner did not disable it
    tap_seq          INTEGER NOT NULL,           -- the last tap with deliveries
    tap_id           INTEGER NOT NULL,
    outbox_seq       INTEGER NOT NULL,           -- the last row of the outbox with deliveries
    outbox_id        INTEGER NOT NULL,
    again_seq        INTEGER NOT NULL,           -- deliveries are made again up to this tap
    resends          INTEGER NOT NULL,           -- how often deliveries were made again
    waiting          INTEGER NOT NULL,           -- deliveries that wait
    kept             INTEGER NOT NULL,           -- completed deliveries that are kept for their owner
    failures         INTEGER NOT NULL,           -- failed attempts since the last success
    failing_since    INTEGER,
    next_at          INTEGER NOT NULL,           -- when the next attempt is due
    held_back        INTEGER NOT NULL,           -- slow, or failing
    again_outbox_seq INTEGER NOT NULL DEFAULT -1 -- deliveries are made again up to this row of the outbox
);

-- Events other than taps, each in the commit of its cause.
CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    at            INTEGER NOT NULL,
    type          TEXT NOT NULL,
    tag_id        INTEGER,
    experience_id INTEGER,
    simulated     INTEGER NOT NULL,
    data          TEXT NOT NULL -- JSON
);

CREATE TABLE webhook_deliveries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL,
    event_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    at         INTEGER NOT NULL, -- the time of the event
    tag_id     INTEGER,
    body       TEXT NOT NULL,    -- equal in every attempt
    waits      INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    next_at    INTEGER NOT NULL  -- the next attempt; for a running one, the end of its lease
);
CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (webhook_id, event_id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE waits;
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (webhook_id, id) WHERE NOT waits;
CREATE INDEX webhook_deliveries_tag ON webhook_deliveries (tag_id) WHERE tag_id IS NOT NULL;
-- Finds deliveries that are as old as their events may become.
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (type, at);

CREATE TABLE webhook_attempts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id  INTEGER NOT NULL,
    delivery_id INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    status      INTEGER,
    error       TEXT,
    response    TEXT NOT NULL,   -- its beginning
    duration    INTEGER NOT NULL -- milliseconds
);
CREATE INDEX webhook_attempts_webhook ON webhook_attempts (webhook_id, id);
CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id);

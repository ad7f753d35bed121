-- Taps are told in the order of their commits, from the position of each endpoint on.
CREATE INDEX interactions_seq ON interactions (seq);

-- Endpoints of webhooks.
CREATE TABLE webhooks (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    fields          TEXT NOT NULL,  -- JSON
    secret          BLOB NOT NULL,  -- wrapped
    previous_secret BLOB,           -- wrapped; signs, too, until then
    previous_until  INTEGER,
    created_at      INTEGER NOT NULL
);

-- Which types of events an endpoint that is on gets: what nobody gets is not written.
CREATE TABLE webhook_types (
    type       TEXT NOT NULL,
    webhook_id INTEGER NOT NULL,
    PRIMARY KEY (type, webhook_id)
) WITHOUT ROWID;

-- How far an endpoint is. After a restore or a move there are none, and all endpoints are off.
CREATE TABLE webhook_states (
    webhook_id    INTEGER PRIMARY KEY,
    enabled       INTEGER NOT NULL,
    disabled      TEXT,             -- why, if its owner did not do it
    tap_seq       INTEGER NOT NULL, -- the last tap of which deliveries were made
    tap_id        INTEGER NOT NULL,
    outbox_seq    INTEGER NOT NULL, -- the last row of the outbox of which deliveries were made
    outbox_id     INTEGER NOT NULL,
    again_seq     INTEGER NOT NULL, -- up to this tap, deliveries are made again
    resends       INTEGER NOT NULL, -- how often they were
    waiting       INTEGER NOT NULL, -- deliveries that wait
    kept          INTEGER NOT NULL, -- deliveries that are done and kept for their owner
    failures      INTEGER NOT NULL, -- attempts that failed since one did not
    failing_since INTEGER,
    next_at       INTEGER NOT NULL, -- when the next attempt is due
    held_back     INTEGER NOT NULL  -- slow, or failing
);

-- What happened beside taps, in the commit of what it tells of.
CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    at            INTEGER NOT NULL,
    type          TEXT NOT NULL,
    tag_id        INTEGER,
    experience_id INTEGER,
    simulated     INTEGER NOT NULL,
    data          TEXT NOT NULL     -- JSON
);

CREATE TABLE webhook_deliveries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL,
    event_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    at         INTEGER NOT NULL,    -- when the event happened
    tag_id     INTEGER,
    body       TEXT NOT NULL,       -- the same in every attempt
    waits      INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    next_at    INTEGER NOT NULL     -- of one that waits; one on its way is due again when its lease is over
);
CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (webhook_id, event_id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE waits;
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (webhook_id, id) WHERE NOT waits;
CREATE INDEX webhook_deliveries_tag ON webhook_deliveries (tag_id) WHERE tag_id IS NOT NULL;

CREATE TABLE webhook_attempts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id  INTEGER NOT NULL,
    delivery_id INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    status      INTEGER,
    error       TEXT,
    response    TEXT NOT NULL,      -- the beginning
    duration    INTEGER NOT NULL    -- milliseconds
);
CREATE INDEX webhook_attempts_webhook ON webhook_attempts (webhook_id, id);
CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id);

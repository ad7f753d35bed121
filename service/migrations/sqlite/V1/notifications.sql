-- Notifications for people: the mail server, the alerts that wait for a message, and the messages.

-- The mail server. It has one row, or none.
CREATE TABLE mail (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    fields   TEXT NOT NULL, -- JSON
    password BLOB           -- wrapped
);

CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    fields     TEXT NOT NULL, -- JSON; of a chat's URL only the origin
    chat       BLOB,          -- wrapped; the whole URL of a chat
    created_at INTEGER NOT NULL
);

-- The progress of each notification that is on. A restored or moved database has no row, and all are off.
CREATE TABLE notification_states (
    notification_id INTEGER PRIMARY KEY,
    outbox_seq      INTEGER NOT NULL, -- the last row of the outbox that was counted
    outbox_id       INTEGER NOT NULL,
    next_at         INTEGER NOT NULL, -- the earliest time of the next message about alerts
    reported_until  INTEGER NOT NULL  -- the end of the last period that was reported
);

-- Alerts that no message contains yet, by type.
CREATE TABLE notification_alerts (
    notification_id INTEGER NOT NULL,
    type            TEXT NOT NULL,
    alerts          INTEGER NOT NULL, -- how many
    first_at        INTEGER NOT NULL,
    last_at         INTEGER NOT NULL,
    message         TEXT NOT NULL,    -- of the last one
    tag_id          INTEGER,          -- of the last one
    PRIMARY KEY (notification_id, type)
) WITHOUT ROWID;

CREATE TABLE notification_messages (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    notification_id INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    subject         TEXT NOT NULL,
    text            TEXT NOT NULL,
    html            TEXT NOT NULL,
    chart           BLOB, -- PNG
    alerts          TEXT NOT NULL -- JSON, by type; empty for a report
);
CREATE INDEX notification_messages_age ON notification_messages (at);
CREATE INDEX notification_messages_notification ON notification_messages (notification_id);

-- A message to one recipient.
CREATE TABLE notification_deliveries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    notification_id INTEGER NOT NULL,
    message_id      INTEGER NOT NULL,
    recipient       TEXT NOT NULL,    -- empty for a chat
    waits           INTEGER NOT NULL,
    may_have_gone   INTEGER NOT NULL, -- an attempt runs, or its end is not known
    attempts        INTEGER NOT NULL, -- those that began; the number of the last one is its claim
    next_at         INTEGER NOT NULL, -- the next attempt; for a running one, the end of its lease
    tried_at        INTEGER,
    error           TEXT              -- of the last attempt
);
-- The lanes of mails and of chats have an index each, so that neither reads what waits in the other.
CREATE INDEX notification_deliveries_mails ON notification_deliveries (next_at) WHERE waits AND recipient <> '';
CREATE INDEX notification_deliveries_chats ON notification_deliveries (next_at) WHERE waits AND recipient = '';
CREATE INDEX notification_deliveries_waiting ON notification_deliveries (notification_id) WHERE waits;
CREATE INDEX notification_deliveries_ended ON notification_deliveries (notification_id, tried_at) WHERE NOT waits;
CREATE INDEX notification_deliveries_failed ON notification_deliveries (notification_id, tried_at, id) WHERE error IS NOT NULL;
CREATE INDEX notification_deliveries_message ON notification_deliveries (message_id);

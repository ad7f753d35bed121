-- The keys of this generation were written by a bureau: they may have other versions on the chip. NULL: they were
-- not, or are superseded.
ALTER TABLE chips ADD COLUMN bureau INTEGER;

-- What a bureau is to encode.
CREATE TABLE factory_orders (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL,
    settings    TEXT NOT NULL,      -- JSON
    created_at  INTEGER NOT NULL,
    exported_at INTEGER           -- when its keys first left
);

-- The tags of an order, in their order, and the chips that came back.
CREATE TABLE factory_order_positions (
    order_id    INTEGER NOT NULL,
    position    INTEGER NOT NULL,   -- from 1
    tag_id      INTEGER NOT NULL,
    uid         BLOB,             -- NULL: it did not come back yet
    received_at INTEGER,
    PRIMARY KEY (order_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX factory_order_positions_tag ON factory_order_positions (order_id, tag_id);
CREATE INDEX factory_order_positions_uid ON factory_order_positions (uid) WHERE uid IS NOT NULL;

-- Five keys for each position. They are stored before they leave, and used for one chip.
CREATE TABLE factory_order_keys (
    order_id    INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    slot        INTEGER NOT NULL,
    key         BLOB NOT NULL,    -- wrapped
    PRIMARY KEY (order_id, position, slot)
) WITHOUT ROWID;

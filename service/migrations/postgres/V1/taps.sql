-- Interactions, and the rows that belong to them or follow from them.

-- A tap is one row, its interaction, in a partition for each week. An id is the second in which it was reserved
-- (since 2020, shifted by 21 bits) and a number within that second. So ids rise with time, a query by id reads one
-- partition, and an id fits into 53 bits. The row names the previous one of its tag, so that a tag's history is a
-- chain that begins at `visits.last_interaction`.
--
-- The row has the hash of the rolling key, so a key needs no row, index or removal of its own. A key expires by the
-- time of its interaction or by `expired_keys`, and a row of `updates` consumes it.
CREATE TABLE interactions (
    id                 BIGINT NOT NULL,
    at                 BIGINT NOT NULL,
    tag_id             BIGINT NOT NULL,
    previous           BIGINT,
    inlay_id           BIGINT,
    experience_id      BIGINT,
    experience_version INTEGER,
    counter            BIGINT,
    last_counter       BIGINT,
    returning_month    BOOLEAN NOT NULL,
    returning_day      BOOLEAN NOT NULL,
    key_issued         BOOLEAN NOT NULL,
    simulated          BOOLEAN NOT NULL,
    reason             TEXT NOT NULL,
    tech               TEXT NOT NULL,
    country            TEXT NOT NULL,
    uid                BYTEA,   -- the UID in a code of no inlay of the tag
    client             BYTEA,   -- NULL: erased
    tamper             TEXT,    -- NULL: the inlay has no tamper loop
    file_data          BYTEA,   -- decrypted
    seq                BIGINT NOT NULL DEFAULT (pg_current_xact_id()::TEXT::BIGINT), -- the transaction; see the index
    key_hash           BYTEA,   -- of the key's random characters; NULL: no key, or erased
    url_digest         BYTEA,   -- recognises the same URL on a reload
    system             TEXT,    -- of the visitor's browser; NULL: erased or unknown
    language           TEXT,    -- of the visitor's browser; NULL: erased or unknown
    visitor_group      INTEGER, -- of a hundred, if an experience distinguishes them; NULL: erased or none
    recall_group_id    BIGINT,  -- the recalled group whose page the visitor got; NULL: none was recalled
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
-- Finds rows that are due for removal if their ids say no time. New rows come at its end.
CREATE INDEX interactions_at ON interactions (at);
-- Webhooks get taps in the order of commits, from the position of each endpoint on. Transactions commit in another
-- order than that of their numbers: everything before the oldest open transaction (`settled_before`) is complete.
CREATE INDEX interactions_seq ON interactions (seq, id);

-- Nodes take ids 256 at a time.
CREATE SEQUENCE interaction_ids INCREMENT BY 256 START WITH 256;

-- The number of each node that starts.
CREATE SEQUENCE nodes;

-- Interactions that were moved here from SQLite: before `id`, none of real time is newer than `newest`.
CREATE TABLE moved_history (
    id     BIGINT PRIMARY KEY,
    newest BIGINT NOT NULL
);

-- Keys that have expired whatever the clock says, so that a clock that goes back revives none. It has at most one
-- row.
CREATE TABLE expired_keys (
    id              BIGINT PRIMARY KEY,
    up_to           BIGINT NOT NULL, -- keys of interactions up to this id
    simulated_up_to BIGINT NOT NULL, -- keys of simulated interactions up to this id
    looked_to       BIGINT NOT NULL  -- interactions up to this time were checked
);

-- Successful updates. The row consumes the key of its interaction.
CREATE TABLE updates (
    interaction_id BIGINT PRIMARY KEY,
    at             BIGINT NOT NULL,
    changes        TEXT NOT NULL, -- JSON
    request        BYTEA,         -- digest of Idempotency-Key and body
    attempt        BIGINT         -- the number of the attempt that wrote it
);

-- The last refused update of each valid key, for the trace. It is written later, outside the answer.
CREATE TABLE refused_updates (
    interaction_id BIGINT PRIMARY KEY,
    at             BIGINT NOT NULL,
    fault          TEXT NOT NULL, -- unknown_variable, not_assigned, not_verified
    variable       TEXT           -- the variable that the tag lacks
);

-- Payload reads, for the trace. They are written later, outside the answer.
CREATE TABLE payload_reads (
    interaction_id BIGINT PRIMARY KEY,
    first_at       BIGINT NOT NULL,
    reads          INTEGER NOT NULL
);

-- Macros that a redirect had no room for, and the rule that applied, for the trace.
CREATE TABLE left_out (
    interaction_id BIGINT PRIMARY KEY,
    macros         TEXT NOT NULL, -- JSON: the names of macros
    -- Number of the rule of the redirect, from 1; 0: none applied; NULL: no rules, or unknown.
    rule           INTEGER
);

-- Taps whose request had the cookie of an earlier tap of the tag: both are of one visitor.
CREATE TABLE same_browser (
    interaction_id BIGINT PRIMARY KEY,
    earlier        BIGINT NOT NULL
);
CREATE INDEX same_browser_earlier ON same_browser (earlier);

-- Notes and photos that staff added to taps of their phones. The bytes are last, because most queries read the other
-- columns.
CREATE TABLE staff_notes (
    interaction_id BIGINT PRIMARY KEY,
    at             BIGINT NOT NULL, -- of the last change
    phone          TEXT NOT NULL, -- its name at that time
    note           TEXT NOT NULL, -- empty: only a photo
    media_type     TEXT, -- NULL: no photo
    digest         TEXT, -- SHA-256 of the photo, in hexadecimal
    photo          BYTEA
);

-- Taps of the real world by this application's readers, each in the commit of its interaction. They are counted
-- separately from visitors' taps, also after the interaction is erased: so the row repeats what it is counted by, and
-- has no `interaction_id`.
CREATE TABLE test_taps (
    tap_id        BIGINT PRIMARY KEY,
    tag_id        BIGINT NOT NULL, -- 0 for none
    experience_id BIGINT,
    hour          BIGINT NOT NULL,
    reason        TEXT NOT NULL,
    origin        TEXT NOT NULL
);
CREATE INDEX test_taps_hour ON test_taps (hour);
CREATE INDEX test_taps_tag ON test_taps (tag_id);

-- Visitors of each tag. The row with the empty client counts all of them. The values before the last tap are stored
-- too, because an upsert can only return the row that it leaves.
CREATE TABLE visits (
    tag_id           BIGINT NOT NULL,
    scans            BIGINT NOT NULL,
    last_at          BIGINT NOT NULL,
    last_interaction BIGINT NOT NULL,
    before_at        BIGINT,
    before           BIGINT,
    client           BYTEA NOT NULL,
    PRIMARY KEY (tag_id, client)
) WITH (fillfactor = 80);

-- Taps by hour and reason, for the overview. Each node writes its own rows, because they would all wait for one row
-- otherwise.
CREATE TABLE tap_counts (
    hour      BIGINT NOT NULL, -- hours since the Unix epoch
    taps      BIGINT NOT NULL,
    writer    SMALLINT NOT NULL,
    simulated BOOLEAN NOT NULL,
    reason    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (hour, reason, simulated, writer)
) WITH (fillfactor = 60);

-- Previews for programs, by hour, for the overview. They are no taps, and no visitor data.
CREATE TABLE previews (
    hour     BIGINT PRIMARY KEY, -- hours since the Unix epoch
    previews BIGINT NOT NULL
);

-- Tags whose inlay reported an open tamper loop, and the first time. The mark outlives its interaction.
CREATE TABLE opened_tags (
    tag_id         BIGINT PRIMARY KEY,
    at             BIGINT NOT NULL,
    interaction_id BIGINT NOT NULL
);

-- Forms, each in the commit of its update. The current values of the variables are in `properties`.
--
-- `refused` is the reason why a form could not be saved, until it is saved. Such a form counts as no submission, and
-- a tap has at most one.
CREATE TABLE submissions (
    id                 BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at                 BIGINT NOT NULL,
    interaction_id     BIGINT NOT NULL UNIQUE,
    tag_id             BIGINT NOT NULL,
    experience_id      BIGINT NOT NULL,
    experience_version BIGINT NOT NULL, -- the version whose page had the form
    form               TEXT NOT NULL,   -- digest of its variables: equal in all versions and languages
    verification       TEXT NOT NULL,
    simulated          BOOLEAN NOT NULL,
    fields             TEXT NOT NULL,   -- JSON
    folded             TEXT NOT NULL,   -- the values in one case, each on its own lines, for searches
    consent            TEXT,            -- the text that the visitor agreed to
    refused            TEXT             -- unknown_variable, not_assigned; NULL: saved
);
CREATE INDEX submissions_tag ON submissions (tag_id, id);
CREATE INDEX submissions_experience ON submissions (experience_id, id);
CREATE INDEX submissions_at ON submissions (at);
CREATE INDEX submissions_refused ON submissions (tag_id, id) WHERE refused IS NOT NULL;

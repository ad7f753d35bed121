-- Interactions, and the rows that belong to them or follow from them.

-- A tap is one row, its interaction. Ids follow the order of commits. The row names the previous one of its tag, so
-- that a tag's history is a chain that begins at `visits.last_interaction`. The only other index finds rows that are
-- due for removal, and new rows come at its end.
--
-- The row has the hash of the rolling key, so a key needs no row, index or removal of its own. A key expires by the
-- time of its interaction or by `expired_keys`, and a row of `updates` consumes it.
CREATE TABLE interactions (
    id                 INTEGER PRIMARY KEY,
    at                 INTEGER NOT NULL,
    tag_id             INTEGER NOT NULL,
    previous           INTEGER,
    inlay_id           INTEGER,
    uid                BLOB,   -- the UID in a code of no inlay of the tag
    reason             TEXT NOT NULL,
    counter            INTEGER,
    last_counter       INTEGER,
    tech               TEXT NOT NULL,
    experience_id      INTEGER,
    experience_version INTEGER,
    client             BLOB,   -- NULL: erased
    country            TEXT NOT NULL,
    returning_month    INTEGER NOT NULL,
    returning_day      INTEGER NOT NULL,
    key_issued         INTEGER NOT NULL,
    simulated          INTEGER NOT NULL,
    tamper             TEXT,   -- NULL: the inlay has no tamper loop
    file_data          BLOB,   -- decrypted
    key_hash           BLOB,   -- of the key's random characters; NULL: no key, or erased
    url_digest         BLOB,   -- recognises the same URL on a reload
    system             TEXT,   -- of the visitor's browser; NULL: erased or unknown
    language           TEXT,   -- of the visitor's browser; NULL: erased or unknown
    visitor_group      INTEGER, -- of a hundred, if an experience distinguishes them; NULL: erased or none
    recall_group_id    INTEGER -- the recalled group whose page the visitor got; NULL: none was recalled
);
CREATE INDEX interactions_at ON interactions (at);

-- Keys that have expired whatever the clock says, so that a clock that goes back revives none. It has one row, once
-- such a key exists.
CREATE TABLE expired_keys (
    id              INTEGER PRIMARY KEY,
    up_to           INTEGER NOT NULL, -- keys of interactions up to this id
    simulated_up_to INTEGER NOT NULL, -- keys of simulated interactions up to this id
    looked_to       INTEGER NOT NULL  -- interactions up to this time were checked
);

-- Successful updates. The row consumes the key of its interaction. Rows are in the order in which they come, and a
-- small index finds that of a key: in the order of keys, each update of a commit would write a page of its own. Who
-- writes an update also writes its row of `report_updates`: a trigger would copy each page before its change.
CREATE TABLE updates (
    id             INTEGER PRIMARY KEY,
    interaction_id INTEGER NOT NULL UNIQUE,
    at             INTEGER NOT NULL,
    changes        TEXT NOT NULL, -- JSON
    request        BLOB           -- digest of Idempotency-Key and body
);

-- The last refused update of each valid key, for the trace. It is written later, outside the answer.
CREATE TABLE refused_updates (
    interaction_id INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    fault          TEXT NOT NULL, -- unknown_variable, not_assigned, not_verified
    variable       TEXT           -- the variable that the tag lacks
);

-- Payload reads, for the trace. They are written later, outside the answer.
CREATE TABLE payload_reads (
    interaction_id INTEGER PRIMARY KEY,
    first_at       INTEGER NOT NULL,
    reads          INTEGER NOT NULL
);

-- Macros that a redirect had no room for, and the rule that applied, for the trace.
CREATE TABLE left_out (
    interaction_id INTEGER PRIMARY KEY,
    macros         TEXT NOT NULL, -- JSON: the names of macros
    -- Number of the rule of the redirect, from 1; 0: none applied; NULL: no rules, or unknown.
    rule           INTEGER
);

-- Taps whose request had the cookie of an earlier tap of the tag: both are of one visitor.
CREATE TABLE same_browser (
    interaction_id INTEGER PRIMARY KEY,
    earlier        INTEGER NOT NULL
);
CREATE INDEX same_browser_earlier ON same_browser (earlier);

-- Notes and photos that staff added to taps of their phones. The bytes are last, because most queries read the other
-- columns.
CREATE TABLE staff_notes (
    interaction_id INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL, -- of the last change
    phone          TEXT NOT NULL, -- its name at that time
    note           TEXT NOT NULL, -- empty: only a photo
    media_type     TEXT, -- NULL: no photo
    digest         TEXT, -- SHA-256 of the photo, in hexadecimal
    photo          BLOB
);

-- Taps of the real world by this application's readers, each in the commit of its interaction. They are counted
-- separately from visitors' taps, also after the interaction is erased: so the row repeats what it is counted by, and
-- has no `interaction_id`.
CREATE TABLE test_taps (
    tap_id        INTEGER PRIMARY KEY,
    tag_id        INTEGER NOT NULL, -- 0 for none
    experience_id INTEGER,
    hour          INTEGER NOT NULL,
    reason        TEXT NOT NULL,
    origin        TEXT NOT NULL
);
CREATE INDEX test_taps_hour ON test_taps (hour);
CREATE INDEX test_taps_tag ON test_taps (tag_id);

-- Visitors of each tag. The row with the empty client counts all of them; it is next to the others, so that both are
-- on one page.
CREATE TABLE visits (
    tag_id           INTEGER NOT NULL,
    client           BLOB NOT NULL,
    scans            INTEGER NOT NULL,
    last_at          INTEGER NOT NULL,
    last_interaction INTEGER NOT NULL,
    folded_to        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tag_id, client)
) WITHOUT ROWID;

-- Taps by hour and reason, for the overview.
CREATE TABLE tap_counts (
    hour      INTEGER NOT NULL, -- hours since the Unix epoch
    reason    TEXT NOT NULL,
    simulated INTEGER NOT NULL,
    taps      INTEGER NOT NULL,
    folded_to INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (hour, reason, simulated)
) WITHOUT ROWID;

-- Previews for programs, by hour, for the overview. They are no taps, and no visitor data.
CREATE TABLE previews (
    hour     INTEGER PRIMARY KEY, -- hours since the Unix epoch
    previews INTEGER NOT NULL
);

-- Tags whose inlay reported an open tamper loop, and the first time. The mark outlives its interaction. It is written
-- with the tap, because it is too rare to be folded.
CREATE TABLE opened_tags (
    tag_id         INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    interaction_id INTEGER NOT NULL
);

-- Forms, each in the commit of its update. The current values of the variables are in `properties`.
--
-- `refused` is the reason why a form could not be saved, until it is saved. Such a form counts as no submission, and
-- a tap has at most one.
CREATE TABLE submissions (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    at                 INTEGER NOT NULL,
    interaction_id     INTEGER NOT NULL UNIQUE,
    tag_id             INTEGER NOT NULL,
    experience_id      INTEGER NOT NULL,
    experience_version INTEGER NOT NULL, -- the version whose page had the form
    form               TEXT NOT NULL,    -- digest of its variables: equal in all versions and languages
    verification       TEXT NOT NULL,
    simulated          INTEGER NOT NULL,
    fields             TEXT NOT NULL,    -- JSON
    folded             TEXT NOT NULL,    -- the values in one case, each on its own lines, for searches
    consent            TEXT,             -- the text that the visitor agreed to
    refused            TEXT              -- unknown_variable, not_assigned; NULL: saved
);
CREATE INDEX submissions_tag ON submissions (tag_id, id);
CREATE INDEX submissions_experience ON submissions (experience_id, id);
CREATE INDEX submissions_at ON submissions (at);
CREATE INDEX submissions_refused ON submissions (tag_id, id) WHERE refused IS NOT NULL;

-- Certificates that the service obtains for its own domains by ACME, and shares between nodes.

-- Accounts at the authorities, by the URL of their directory.
CREATE TABLE acme_accounts (
    directory   TEXT PRIMARY KEY,
    credentials BLOB NOT NULL  -- wrapped
) WITHOUT ROWID;

CREATE TABLE certificates (
    domain     TEXT NOT NULL,
    directory  TEXT NOT NULL,
    chain      TEXT NOT NULL,    -- PEM, the certificate of the domain first
    key        BLOB NOT NULL,    -- wrapped; PKCS #8
    valid_from INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    PRIMARY KEY (domain, directory)
) WITHOUT ROWID;

-- The attempts to obtain or renew a certificate. A restored or moved database has no row, and looks at once.
CREATE TABLE certificate_states (
    domain    TEXT NOT NULL,
    directory TEXT NOT NULL,
    attempts  INTEGER NOT NULL, -- those that began since the last success; the number of the last one is its claim
    failures  INTEGER NOT NULL, -- those of them that failed; others ended with their node
    next_at   INTEGER NOT NULL, -- the next attempt; for a running one, the end of its lease
    error     TEXT,             -- of the last attempt
    token     TEXT,             -- of the challenge that the authority may ask for
    answer    TEXT,
    PRIMARY KEY (domain, directory)
) WITHOUT ROWID;

//! Certificates of the service's own domains: their SQL.

use serde_json::json;

use super::webhooks::outbox;
use super::{Query, Transaction};
use crate::value::{Row, Value, values};
use crate::{Access, AttemptEnd, CertificateState, ClaimedDomain, StorageError, StoredCertificate};
use domain::certificate::{ALERT_AT, LEASE, Validity, is_due, is_replaced_early};
use domain::clock::Timestamp;
use domain::webhook::{Alert, EventKind, object};

/// The operations on certificates. `directory` is the URL of the authority's directory.
impl Access {
    /// The wrapped credentials of the account at an authority; `None` if there is no account.
    pub async fn acme_account(&self, directory: String) -> Result<Option<Vec<u8>>, StorageError> {
        self.read("acme_account", directory, |db, directory| {
            Box::pin(account(db, directory))
        })
        .await
    }

    /// Stores the wrapped credentials of the account at an authority, in place of earlier ones.
    pub async fn set_acme_account(
        &self,
        directory: String,
        credentials: Vec<u8>,
    ) -> Result<(), StorageError> {
        let account = (directory, credentials);
        self.change("set_acme_account", account, |tx, account| {
            Box::pin(set_account(tx, &account.0, &account.1))
        })
        .await
    }

    /// All certificates of these domains, of any authority.
    pub async fn certificates(
        &self,
        domains: Vec<String>,
    ) -> Result<Vec<StoredCertificate>, StorageError> {
        self.read("certificates", domains, |db, domains| {
            Box::pin(certificates(db, domains))
        })
        .await
    }

    /// The states of all domains that were ever attempted.
    pub async fn certificate_states(&self) -> Result<Vec<CertificateState>, StorageError> {
        self.read("certificate_states", (), |db, ()| {
            Box::pin(async move { states(db.query(STATES, &[]).await?) })
        })
        .await
    }

    /// Claims a domain for an attempt, if one is due; `None` if not. `is_lost`: the caller cannot
    /// open the key of the present certificate.
    pub async fn claim_certificate(
        &self,
        domain: String,
        directory: String,
        is_lost: bool,
    ) -> Result<Option<ClaimedDomain>, StorageError> {
        let arguments = (domain, directory, is_lost);
        self.change("claim_certificate", arguments, |tx, arguments| {
            Box::pin(claim(tx, &arguments.0, &arguments.1, arguments.2))
        })
        .await
    }

    /// Stores the answer to a challenge for a claimed domain. Every node can give it.
    pub async fn offer_challenge(
        &self,
        claimed: ClaimedDomain,
        directory: String,
        token: String,
        answer: String,
    ) -> Result<(), StorageError> {
        let arguments = (claimed, directory, token, answer);
        self.change("offer_challenge", arguments, |tx, arguments| {
            Box::pin(async move {
                let (claimed, directory, token, answer) = arguments;
                let sql = "UPDATE certificate_states SET token = ?4, answer = ?5
                     WHERE domain = ?1 AND directory = ?2 AND attempts = ?3";
                let values = values![&claimed.domain, directory, claimed.attempt, token, answer];
                tx.execute(sql, &values).await.map(drop)
            })
        })
        .await
    }

    /// The answer to the challenge with this token; `None` if none is running.
    pub async fn challenge_answer(&self, token: String) -> Result<Option<String>, StorageError> {
        self.read("challenge_answer", token, |db, token| {
            Box::pin(async move {
                let sql = "SELECT answer FROM certificate_states WHERE token = ?1";
                let found = db.row(sql, &values![token]).await?;
                found.map(|mut row| row.take()).transpose()
            })
        })
        .await
    }

    /// Ends an attempt, unless its lease ended and another one began. The failure of the third
    /// attempt in a row raises an alert, in the same commit, and returns it.
    pub async fn end_certificate_attempt(
        &self,
        claimed: ClaimedDomain,
        directory: String,
        end: AttemptEnd,
    ) -> Result<Option<Alert>, StorageError> {
        let arguments = (claimed, directory, end);
        self.change("end_certificate_attempt", arguments, |tx, arguments| {
            Box::pin(finish(tx, &arguments.0, &arguments.1, &arguments.2))
        })
        .await
    }
}

/// The states of all domains.
pub(crate) const STATES: &str = "SELECT s.domain, s.directory, c.until, s.next_at, s.error
     FROM certificate_states s
     LEFT JOIN certificates c ON c.domain = s.domain AND c.directory = s.directory
     ORDER BY s.domain, s.directory";

/// The states from the rows of [`STATES`].
pub(crate) fn states(rows: Vec<Row>) -> Result<Vec<CertificateState>, StorageError> {
    rows.into_iter().map(state).collect()
}

fn state(mut row: Row) -> Result<CertificateState, StorageError> {
    Ok(CertificateState {
        domain: row.take()?,
        directory: row.take()?,
        until: row.take()?,
        next_at: row.take()?,
        error: row.take()?,
    })
}

async fn account(db: &mut dyn Query, directory: &str) -> Result<Option<Vec<u8>>, StorageError> {
    let sql = "SELECT credentials FROM acme_accounts WHERE directory = ?1";
    let found = db.row(sql, &values![directory]).await?;
    found.map(|mut row| row.take()).transpose()
}

async fn set_account(
    tx: &mut dyn Transaction,
    directory: &str,
    credentials: &[u8],
) -> Result<(), StorageError> {
    let sql = "INSERT INTO acme_accounts (directory, credentials) VALUES (?1, ?2)
         ON CONFLICT (directory) DO UPDATE SET credentials = excluded.credentials";
    let values = values![directory, credentials];
    tx.execute(sql, &values).await.map(drop)
}

async fn certificates(
    db: &mut dyn Query,
    domains: &[String],
) -> Result<Vec<StoredCertificate>, StorageError> {
    let sql = "SELECT domain, directory, chain, key, valid_from, until FROM certificates
         WHERE domain IN texts(?1) ORDER BY domain, directory";
    let found = db.query(sql, &values![Value::list(domains)]).await?;
    found.into_iter().map(read).collect()
}

fn read(mut row: Row) -> Result<StoredCertificate, StorageError> {
    Ok(StoredCertificate {
        domain: row.take()?,
        directory: row.take()?,
        chain: row.take()?,
        key: row.take()?,
        validity: Validity {
            from: row.take()?,
            until: row.take()?,
        },
    })
}

async fn claim(
    tx: &mut dyn Transaction,
    domain: &str,
    directory: &str,
    is_lost: bool,
) -> Result<Option<ClaimedDomain>, StorageError> {
    let now = tx.now();
    let key = values![domain, directory];
    let sql =
        "SELECT next_at, attempts FROM certificate_states WHERE domain = ?1 AND directory = ?2";
    if let Some(mut row) = tx.row(sql, &key).await? {
        let (next_at, attempts): (Timestamp, u32) = (row.take()?, row.take()?);
        // Attempts that run or failed keep to their pause.
        let is_early = is_lost && attempts == 0 && is_replaced_early(next_at, now);
        if !is_early && !is_due(Some(next_at), now) {
            return Ok(None);
        }
    }
    let sql = "INSERT INTO certificate_states (domain, directory, attempts, failures, next_at)
             VALUES (?1, ?2, 1, 0, ?3)
         ON CONFLICT (domain, directory) DO UPDATE SET attempts = certificate_states.attempts + 1,
             next_at = excluded.next_at
         RETURNING attempts";
    let values = values![domain, directory, now.plus(LEASE)];
    let attempt = tx.write_one(sql, &values).await?.take()?;
    let sql = "SELECT domain, directory, chain, key, valid_from, until FROM certificates
         WHERE domain = ?1 AND directory = ?2";
    let present = tx.row(sql, &key).await?.map(read).transpose()?;
    Ok(Some(ClaimedDomain {
        domain: domain.to_owned(),
        attempt,
        present,
    }))
}

async fn finish(
    tx: &mut dyn Transaction,
    claimed: &ClaimedDomain,
    directory: &str,
    end: &AttemptEnd,
) -> Result<Option<Alert>, StorageError> {
    let ClaimedDomain {
        domain, attempt, ..
    } = claimed;
    let (attempts, next_at, error) = match end {
        AttemptEnd::Stays { next_at } | AttemptEnd::Obtained { next_at, .. } => (0, next_at, None),
        AttemptEnd::Failed { why, next_at } => (*attempt, next_at, Some(why)),
    };
    // Not the attempts: a node that ended in the middle of the third one must not hide the alert.
    let sql = "UPDATE certificate_states
         SET attempts = ?4, next_at = ?5, error = ?6, token = NULL, answer = NULL,
             failures = CASE WHEN ?7 THEN failures + 1 ELSE 0 END
         WHERE domain = ?1 AND directory = ?2 AND attempts = ?3
         RETURNING failures";
    let failed = error.is_some();
    let values = values![
        domain, directory, *attempt, attempts, *next_at, error, failed
    ];
    let Some(mut ended) = tx.write(sql, &values).await?.pop() else {
        return Ok(None);
    };
    let failures: u32 = ended.take()?;
    match end {
        AttemptEnd::Obtained { certificate, .. } => {
            store(tx, certificate).await?;
            Ok(None)
        }
        AttemptEnd::Failed { why, .. } if failures == ALERT_AT => {
            tell(tx, claimed, why).await.map(Some)
        }
        AttemptEnd::Stays { .. } | AttemptEnd::Failed { .. } => Ok(None),
    }
}

async fn store(
    tx: &mut dyn Transaction,
    certificate: &StoredCertificate,
) -> Result<(), StorageError> {
    let sql = "INSERT INTO certificates (domain, directory, chain, key, valid_from, until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (domain, directory) DO UPDATE SET chain = excluded.chain, key = excluded.key,
             valid_from = excluded.valid_from, until = excluded.until";
    let values = values![
        &certificate.domain,
        &certificate.directory,
        &certificate.chain,
        &certificate.key,
        certificate.validity.from,
        certificate.validity.until,
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Raises the alert for a certificate that cannot be obtained.
async fn tell(
    tx: &mut dyn Transaction,
    claimed: &ClaimedDomain,
    why: &str,
) -> Result<Alert, StorageError> {
    let ClaimedDomain {
        domain, present, ..
    } = claimed;
    let until = present.as_ref().map(|present| present.validity.until);
    let stays = until.map_or_else(
        || "It has none.".to_owned(),
        |until| format!("The present one is valid until {until}."),
    );
    let message = format!("No new certificate was obtained for {domain}. {why} {stays}");
    let data = json!({"domain": domain, "valid_until": until});
    let alert = Alert::new(EventKind::AlertCertificateFailed, &message, data);
    outbox::tell(tx, alert.kind, alert.about, object(&alert.data)).await?;
    Ok(alert)
}

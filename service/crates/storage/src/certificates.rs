//! Certificates of the service's own domains, as they are stored.

use std::fmt;

use domain::certificate::Validity;
use domain::clock::Timestamp;

/// A certificate of a domain, with its key.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredCertificate {
    /// Domain of the certificate, in lower case and ASCII.
    pub domain: String,
    /// URL of the directory of the authority that issued it.
    pub directory: String,
    /// The chain as PEM, the certificate of the domain first.
    pub chain: String,
    /// The private key as PKCS #8, wrapped.
    pub key: Vec<u8>,
    /// When it is valid.
    pub validity: Validity,
}

impl fmt::Debug for StoredCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain, directory, ..
        } = self;
        write!(f, "StoredCertificate({domain} by {directory})")
    }
}

/// A domain that was claimed for an attempt. Nobody else attempts it until the lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedDomain {
    /// Domain of the certificate.
    pub domain: String,
    /// Number of the attempt since the last success. It is also the claim.
    pub attempt: u32,
    /// The present certificate of the same authority, if there is one.
    pub present: Option<StoredCertificate>,
}

/// The end of an attempt.
#[derive(Clone, Debug)]
pub enum AttemptEnd {
    /// The present certificate stays.
    Stays {
        /// When to look at it again.
        next_at: Timestamp,
    },
    /// A certificate was obtained.
    Obtained {
        /// The certificate that was obtained.
        certificate: StoredCertificate,
        /// When to look at it.
        next_at: Timestamp,
    },
    /// No certificate was obtained.
    Failed {
        /// The reason, a sentence for people.
        why: String,
        /// When to try again.
        next_at: Timestamp,
    },
}

/// The state of a domain's certificate, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateState {
    /// Domain of the certificate.
    pub domain: String,
    /// URL of the authority's directory.
    pub directory: String,
    /// The last moment at which it is valid; `None` if there is no certificate yet.
    pub until: Option<Timestamp>,
    /// When the next attempt is due, or the end of a running one's lease.
    pub next_at: Timestamp,
    /// Why the last attempt failed; `None` if it did not.
    pub error: Option<String>,
}

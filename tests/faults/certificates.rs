//! TLS certificates with all kinds of faults, and a server that presents them.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use tapdesk_tests::Launch;

use super::launch;

/// The binary in a new folder, which trusts only a new authority.
pub(super) fn trusting_launch() -> (Launch, Issuer<'static, KeyPair>) {
    let (issuer, pem) = authority();
    let launch = launch();
    let trusted = launch.folder.path().join("trusted.pem");
    std::fs::write(&trusted, pem).expect("the file can be written");
    // The system's list of trusted authorities, on Linux.
    let launch = launch.env("SSL_CERT_FILE", &trusted.to_string_lossy());
    (launch, issuer)
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// An authority, and its certificate as PEM.
fn authority() -> (Issuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = named("Authority of a test");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("it signs itself");
    (Issuer::new(params, key), certificate.pem())
}

/// A certificate with its key, and both as PEM.
pub(super) struct Certified {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    pub(super) pem: String,
}

/// A certificate for a host name or an IP address, signed by the authority or by itself. It expires
/// at the beginning of the year `until`.
pub(super) fn certificate(
    name: &str,
    until: i32,
    by: Option<&Issuer<'static, KeyPair>>,
) -> Certified {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    params.distinguished_name = named("Server of a test");
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().expect("a key");
    let signed = match by {
        Some(issuer) => params.signed_by(&key, issuer),
        None => params.self_signed(&key),
    };
    let signed = signed.expect("it is signed");
    Certified {
        certificate: signed.der().clone(),
        key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        pem: signed.pem() + &key.serialize_pem(),
    }
}

/// A configuration for a server that presents a certificate.
pub(super) fn config(certified: Certified) -> Arc<ServerConfig> {
    let Certified {
        certificate, key, ..
    } = certified;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate with its key");
    Arc::new(config)
}

/// A server on `address` that answers 204 to clients that accept its certificate. Returns its port.
pub(super) fn server(address: IpAddr, certified: Certified) -> u16 {
    let config = config(certified);
    let listener = TcpListener::bind((address, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else {
                continue;
            };
            let mut tls = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut stream = Stream::new(&mut tls, &mut connection);
            let mut request = [0; 4096];
            // A client that rejects the certificate sends nothing.
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(answer);
            }
        }
    });
    port
}

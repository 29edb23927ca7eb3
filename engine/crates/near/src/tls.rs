//! TLS to clients and to servers. Certificates and keys come from PEM files. A server's certificate is verified by its authority alone, or
//! also by its name.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// A host name or IP address that a server's certificate may be for.
pub type Name = ServerName<'static>;

/// The files with the authorities that the system trusts, on Debian and Alpine, on Red Hat, and on other systems.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Loads the certificate that clients are shown in TLS. `certificate`: the path of a PEM file with the certificate and its chain; `key`:
/// that of its private key. The error names the file.
pub fn acceptor(certificate: &str, key: &str) -> Result<TlsAcceptor, String> {
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("no private key in {key}: {error}"))?;
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.with_no_client_auth();
    let config = builder.with_single_cert(chain, key).map_err(|error| error.to_string())?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Returns a connector that trusts the authorities in the PEM file at the path `authorities`. `is_named`: the server's certificate must
/// also be for the name that is connected to; otherwise any certificate from these authorities will do.
pub fn connector(authorities: &str, is_named: bool) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authorities)? {
        roots.add(certificate).map_err(|error| format!("{authorities}: {error}"))?;
    }
    verifying(roots, is_named)
}

/// Returns a connector that trusts the operating system's authorities, except those that cannot be parsed, and that also checks the
/// server's name. An error if the system has no list of authorities. `option`: the option that names other authorities, for the error
/// message.
pub fn system_connector(option: &str) -> Result<TlsConnector, String> {
    let file = SYSTEM_AUTHORITIES.into_iter().find(|file| Path::new(file).exists());
    let file = file.ok_or_else(|| format!("the system has no list of authorities (ca-certificates): set {option}"))?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates(file)?);
    verifying(roots, true)
}

/// Returns a connector that trusts only the authorities `roots`. `is_named`: a certificate must also be for the server's name. An error
/// if `roots` is empty.
fn verifying(roots: RootCertStore, is_named: bool) -> Result<TlsConnector, String> {
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
    let verifier = Verifier { inner: verifier.map_err(|error| error.to_string())?, is_named };
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.dangerous();
    let config = builder.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Reads a host name or an IP address. An error if no certificate could be for it.
pub fn name(text: &str) -> Result<Name, String> {
    ServerName::try_from(text.to_owned()).map_err(|_| format!("`{text}` is no name that a certificate could have"))
}

/// Returns the implementation of cryptography that all TLS of this program uses.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Returns the certificates in a PEM file. An error if there is none, or one is malformed.
fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error| format!("no certificate in {file}: {error}");
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).map_err(wrong)?.collect();
    let read = read.map_err(wrong)?;
    if read.is_empty() { Err(format!("no certificate in {file}")) } else { Ok(read) }
}

/// Verifies certificates of servers like the library, but skips the name unless `is_named`: database servers often have certificates
/// without a name that could be verified.
#[derive(Debug)]
struct Verifier {
    inner: Arc<WebPkiServerVerifier>,
    is_named: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The library verifies the name last, so the chain is valid here.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.is_named => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

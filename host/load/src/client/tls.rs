//! What https trusts.

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Certificates that are trusted: the machine's, and those given.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    given: Vec<CertificateDer<'static>>,
}

/// Certificates that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The given text holds no certificate.
    #[error("the certificate authority's file holds no certificate; give a PEM file with `BEGIN CERTIFICATE`")]
    NoCertificate,
    /// A certificate is broken.
    #[error("the certificate authority's file can't be read: {0}; give a PEM file")]
    Pem(String),
    /// Nothing is trusted.
    #[error(
        "this machine has no trusted certificates for https; install `ca-certificates`, or give an authority's file"
    )]
    Nothing,
    /// The TLS library refuses its own defaults.
    #[error("https can't be set up: {0}; please report this")]
    Setup(String),
}

impl Trust {
    /// Trusts the certificates of a PEM text besides the machine's.
    ///
    /// # Errors
    /// The text holds no certificate, or a broken one.
    pub fn with_pem(pem: &[u8]) -> Result<Trust, TrustError> {
        let given: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let given = given.map_err(|e| TrustError::Pem(e.to_string()))?;
        if given.is_empty() { Err(TrustError::NoCertificate) } else { Ok(Trust { given }) }
    }

    pub(crate) fn connector(&self) -> Result<TlsConnector, TrustError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for certificate in &self.given {
            roots.add(certificate.clone()).map_err(|e| TrustError::Pem(e.to_string()))?;
        }
        if roots.is_empty() {
            return Err(TrustError::Nothing);
        }
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| TrustError::Setup(e.to_string()))?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

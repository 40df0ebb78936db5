//! The library's clients, each with its connections, built when somebody needs them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::addresses::Reach;
use crate::error::{HttpError, HttpErrorKind};
use crate::names::{Names, System};

/// How long a connection may take; a server that is not there is told from a slow one ("AIMON hooks guide, http").
const CONNECT: Duration = Duration::from_secs(5);

/// How long a connection is kept for the next request: less than common servers keep it (5 s), since a request that meets the
/// end of its connection fails.
const IDLE: Duration = Duration::from_secs(4);

/// A client for each reach, without and with TLS. A connection that was made where everything is allowed is never used where
/// less is.
#[derive(Default)]
pub(crate) struct Pools {
    plain: [OnceLock<reqwest::Client>; Reach::ALL.len()],
    secure: [OnceLock<reqwest::Client>; Reach::ALL.len()],
    tls: OnceLock<ClientConfig>,
    system: Arc<System>,
}

impl Pools {
    pub(crate) fn get(&self, reach: Reach, secure: bool) -> Result<&reqwest::Client, HttpError> {
        let cells = if secure { &self.secure } else { &self.plain };
        let cell = &cells[reach as usize];
        match cell.get() {
            Some(client) => Ok(client),
            None => {
                let built = self.build(reach, secure)?;
                Ok(cell.get_or_init(|| built))
            }
        }
    }

    fn build(&self, reach: Reach, secure: bool) -> Result<reqwest::Client, HttpError> {
        let names = Names { reach, system: self.system.clone() };
        let builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .http1_only()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .user_agent(concat!("hook-engine/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(names)
            // Reading the system's certificates takes milliseconds, so a client without TLS has none.
            .tls_backend_preconfigured(if secure {
                self.certificates()?.clone()
            } else {
                without_certificates()?
            });
        builder.build().map_err(|error| {
            HttpError::new(HttpErrorKind::Request, format!("no HTTP client can be made: {error}"))
        })
    }

    fn certificates(&self) -> Result<&ClientConfig, HttpError> {
        if let Some(config) = self.tls.get() {
            return Ok(config);
        }
        let built = versions()?
            .with_platform_verifier()
            .map_err(|error| {
                let message = format!("the system's certificates cannot be read: {error}");
                HttpError::new(HttpErrorKind::Unreachable, message)
            })?
            .with_no_client_auth();
        Ok(self.tls.get_or_init(|| built))
    }
}

fn without_certificates() -> Result<ClientConfig, HttpError> {
    Ok(versions()?.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

fn versions() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::new(HttpErrorKind::Request, format!("no TLS: {error}")))
}

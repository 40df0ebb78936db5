//! Connections: for calls, and to be told of changes.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Fault, schema, told};

/// How long a server has to answer the first word.
const CONNECT: Duration = Duration::from_secs(5);

/// After so long a connection is tried again.
pub(super) const AGAIN: Duration = Duration::from_secs(5);

/// With bounds where the address has none.
pub(super) fn bounded(mut config: Config) -> Config {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(15));
    }
    if config.get_application_name().is_none() {
        config.application_name("hook");
    }
    config
}

/// True where every server that may be connected to is on this machine.
fn is_here(config: &Config) -> bool {
    let mut hosts = config.get_hosts().iter();
    let by_address = config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
    by_address
        && hosts.all(|host| match host {
            Host::Tcp(name) => {
                name == "localhost" || name.parse().is_ok_and(|at: std::net::IpAddr| at.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        })
}

/// Encrypted, and only with a server that proves who it is; `None` where it goes without.
fn tls(config: &mut Config) -> Result<Option<MakeRustlsConnect>, Fault> {
    match config.get_ssl_mode() {
        SslMode::Disable => return Ok(None),
        SslMode::Prefer if is_here(config) => return Ok(None),
        _ => {}
    }
    config.ssl_mode(SslMode::Require);
    let failed = |error: rustls::Error| Fault::Connecting(format!("certificates: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let settings = builder.and_then(|builder| builder.with_platform_verifier()).map_err(failed)?;
    Ok(Some(MakeRustlsConnect::new(settings.with_no_client_auth())))
}

/// A connection for calls. Its other half runs beside and ends with it.
pub(super) async fn connect(config: &Config) -> Result<Client, Fault> {
    let mut config = config.clone();
    match tls(&mut config)? {
        None => started(&config, NoTls, None).await.map(|(client, _)| client),
        Some(tls) => started(&config, tls, None).await.map(|(client, _)| client),
    }
}

/// A connection that hears of changes.
pub(super) struct Listening {
    told: Arc<Notify>,
    task: JoinHandle<()>,
    // The connection ends with it.
    _client: Client,
}

impl Listening {
    pub(super) async fn start(config: &Config, channel: &str) -> Result<Listening, Fault> {
        let mut config = config.clone();
        let told = Arc::new(Notify::new());
        let (client, task) = match tls(&mut config)? {
            None => started(&config, NoTls, Some(told.clone())).await?,
            Some(tls) => started(&config, tls, Some(told.clone())).await?,
        };
        client.batch_execute(&format!("LISTEN {}", schema::quoted(channel))).await?;
        Ok(Listening { told, task, _client: client })
    }

    pub(super) fn is_on(&self) -> bool {
        !self.task.is_finished()
    }

    pub(super) fn told(&self) -> Arc<Notify> {
        self.told.clone()
    }
}

async fn started<T>(
    config: &Config,
    tls: T,
    told_of: Option<Arc<Notify>>,
) -> Result<(Client, JoinHandle<()>), Fault>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let made = config.connect(tls).await;
    let (client, connection) = made.map_err(|error| Fault::Connecting(told(&error)))?;
    Ok((client, tokio::spawn(drive(connection, told_of))))
}

/// Moves what the two sides say, until one of them goes.
async fn drive<S, T>(mut connection: Connection<S, T>, told: Option<Arc<Notify>>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => {
                if let Some(told) = &told {
                    told.notify_one();
                }
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break,
        }
    }
    // Whoever waits for a hint looks, and connects anew.
    if let Some(told) = told {
        told.notify_one();
    }
}

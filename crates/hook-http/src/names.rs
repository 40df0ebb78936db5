//! Names into addresses, and only into such as may be connected to.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::addresses::Reach;
use crate::error::ForbiddenAddress;

type Failure = Box<dyn Error + Send + Sync>;

/// Resolves names for one pool. What it gives is what is connected to: nothing is looked up twice.
pub(crate) struct Names {
    pub(crate) reach: Reach,
    pub(crate) system: Arc<System>,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, system) = (self.reach, self.system.clone());
        Box::pin(async move {
            let name = name.as_str();
            let found = if is_localhost(name) {
                vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]
            } else {
                system.look_up(name).await?
            };
            let allowed: Vec<SocketAddr> = found
                .iter()
                .filter(|address| reach.allows(**address))
                .map(|address| SocketAddr::new(*address, 0))
                .collect();
            if let (true, Some(first)) = (allowed.is_empty(), found.first()) {
                return Err(ForbiddenAddress(forbidden(name, *first)).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Why an address is not connected to.
pub(crate) fn forbidden(host: &str, address: IpAddr) -> String {
    let means = if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        String::new()
    } else {
        format!("{host} is ")
    };
    format!("{means}{address}, a private address, which may not be asked here")
}

/// Names that mean this machine, whoever is asked (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// What this machine knows of names.
#[derive(Default)]
pub(crate) struct System {
    #[cfg(target_os = "linux")]
    resolver: std::sync::OnceLock<hickory_resolver::TokioResolver>,
}

impl System {
    #[cfg(target_os = "linux")]
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Failure> {
        use hickory_resolver::TokioResolver;
        use hickory_resolver::config::{LookupIpStrategy, ResolverConfig};
        use hickory_resolver::net::runtime::TokioRuntimeProvider;

        let resolver = match self.resolver.get() {
            Some(resolver) => resolver,
            None => {
                // Without `/etc/resolv.conf` there is nobody to ask, but `/etc/hosts` still counts.
                let mut builder = TokioResolver::builder_tokio().unwrap_or_else(|_| {
                    let nobody = ResolverConfig::from_name_servers(Vec::new());
                    TokioResolver::builder_with_config(nobody, TokioRuntimeProvider::default())
                });
                builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
                let built = builder.build()?;
                self.resolver.get_or_init(|| built)
            }
        };
        let found = resolver.lookup_ip(name).await;
        found.map(|found| found.iter().collect()).map_err(|error| {
            let why = if error.is_no_records_found() || error.is_nx_domain() {
                "no such name".to_owned()
            } else {
                error.to_string()
            };
            Failure::from(format!("{name}: {why}"))
        })
    }

    #[cfg(not(target_os = "linux"))]
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Failure> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_is_known_in_every_spelling() {
        for name in ["localhost", "LocalHost.", "policy.localhost", "a.b.localhost."] {
            assert!(is_localhost(name), "{name}");
        }
        for name in ["localhost.example.org", "notlocalhost", "localhost.localdomain", ""] {
            assert!(!is_localhost(name), "{name}");
        }
    }

    #[tokio::test]
    async fn a_name_of_a_forbidden_address_has_no_address() {
        let names = |reach| Names { reach, system: Arc::new(System::default()) };
        let found = names(Reach::PublicAndLoopback).resolve("localhost".parse().unwrap()).await;
        let found: Vec<String> = found.unwrap().map(|address| address.ip().to_string()).collect();
        assert_eq!(found, ["127.0.0.1", "::1"]);
        let refused = names(Reach::Public).resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert!(refused.is::<ForbiddenAddress>(), "{refused}");
        assert_eq!(
            refused.to_string(),
            "localhost is 127.0.0.1, a private address, which may not be asked here"
        );
    }
}

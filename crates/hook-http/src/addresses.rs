//! Which addresses are private, and which may be connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that a request may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All.
    Everything,
    /// Those of the internet, and of this machine.
    PublicAndLoopback,
    /// Those of the internet.
    Public,
}

impl Reach {
    pub(crate) const ALL: [Reach; 3] = [Reach::Everything, Reach::PublicAndLoopback, Reach::Public];

    pub(crate) fn allows(self, address: IpAddr) -> bool {
        match self {
            Reach::Everything => true,
            Reach::PublicAndLoopback => address.to_canonical().is_loopback() || !is_private(address),
            Reach::Public => !is_private(address),
        }
    }
}

/// True for every address that is not one of the internet: of this machine, of private and shared networks, of links (the
/// metadata of clouds), of documentation, groups and the future (IANA special-purpose address registries).
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // An address of the older kind in the clothes of the newer one is judged as what it is.
    let [.., high, low] = segments;
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    let older = Ipv4Addr::new(a, b, c, d);
    let translated = segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    if address.to_ipv4_mapped().is_some() || translated || segments[..6] == [0; 6] {
        return is_private_v4(older);
    }
    if segments[0] == 0x2002 {
        let [a, b] = segments[1].to_be_bytes();
        let [c, d] = segments[2].to_be_bytes();
        return is_private_v4(Ipv4Addr::new(a, b, c, d));
    }
    // Only 2000::/3 is given out; of it, 2001::/23 is for protocols, 2001:db8::/32 and 3fff::/20 for documentation.
    let given_out = segments[0] & 0xe000 == 0x2000;
    let protocols = segments[0] == 0x2001 && segments[1] < 0x200;
    let documentation = (segments[0] == 0x2001 && segments[1] == 0xdb8) || segments[0] & 0xfff0 == 0x3ff0;
    !given_out || protocols || documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_of_the_internet_are_private_in_every_spelling() {
        for text in [
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "192.0.0.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "203.0.113.9",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "fec0::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "100::1",
            "5f00::1",
        ] {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in [
            "8.8.8.8",
            "1.1.1.1",
            "100.63.0.1",
            "100.128.0.1",
            "172.32.0.1",
            "169.253.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ] {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn loopback_is_the_one_exception_that_can_be_made() {
        let allows = |reach: Reach, text: &str| reach.allows(text.parse().unwrap());
        for text in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(allows(Reach::PublicAndLoopback, text) && !allows(Reach::Public, text), "{text}");
        }
        for reach in [Reach::PublicAndLoopback, Reach::Public] {
            assert!(!allows(reach, "169.254.169.254") && allows(reach, "8.8.8.8"), "{reach:?}");
        }
        assert!(allows(Reach::Everything, "169.254.169.254"));
    }
}

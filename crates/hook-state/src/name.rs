//! File names from session ids, which come from outside.

/// Characters of the id that a name shows.
const HEAD: usize = 8;

/// Hexadecimal digits of the hash.
const HASH: usize = 32;

/// A name that any file system takes: at most eight harmless characters of the id, and a hash of all of it. Equal ids give
/// equal names; different ids give different ones but for a collision of the 128-bit hash.
pub(crate) fn file_name(session: &str) -> String {
    let head: String = session.chars().filter(|c| is_harmless(*c)).take(HEAD).collect();
    format!("{head}-{:0HASH$x}", fnv1a(session.as_bytes()))
}

/// True for what [`file_name`] gives. Other files of the directory are not ours to touch.
pub(crate) fn is_file_name(name: &str) -> bool {
    let Some((head, hash)) = name.len().checked_sub(HASH).and_then(|at| name.split_at_checked(at)) else {
        return false;
    };
    let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let Some(head) = head.strip_suffix('-') else { return false };
    head.len() <= HEAD && head.chars().all(is_harmless) && hash.chars().all(hexadecimal)
}

fn is_harmless(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// FNV-1a, 128 bits: stable over versions and machines, which the standard hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_harmless_and_distinct() {
        let long = "x".repeat(1_000_000);
        let ids = ["", "s1", "../../etc/passwd", "a/b", "a\0b", "ÄÖÜ", ".", "..", long.as_str(), "S1"];
        let names: Vec<String> = ids.iter().map(|id| file_name(id)).collect();
        for name in &names {
            assert!(name.len() <= 41, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{name}");
            assert!(is_file_name(name), "{name}");
        }
        for strange in ["", "Cargo", "-", &"a".repeat(32), &"ü".repeat(20), &format!("a-{}", "A".repeat(32))]
        {
            assert!(!is_file_name(strange), "{strange}");
        }
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!(
            fnv1a(b""),
            0x6c62_272e_07bb_0142_62b8_2175_6295_c58d,
            "the hash is part of the file format"
        );
    }
}

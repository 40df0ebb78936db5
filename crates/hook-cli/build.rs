//! Links the command without position independence on Linux: an agent starts it for every event, and relocating a binary of
//! this size at each start costs about a tenth of that.

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "this is how build scripts speak with cargo"
)]
fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=hook=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

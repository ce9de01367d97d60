//! Recompiles the server when the built web UI changes: `rust-embed` lists the files at compile time.
//!
//! Used in release builds only. A development build reads the files at run time, and Cargo would recompile
//! the server on every build while the directory does not exist.

#![expect(
    clippy::disallowed_methods,
    reason = "Cargo passes the profile to build scripts in the environment"
)]

fn main() {
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo::rerun-if-changed={}", if is_release { "../../ui/dist" } else { "build.rs" });
}

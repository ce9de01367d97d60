//! Rebuilds the crate when a migration is added: migrations are embedded at compile time, and Cargo does not
//! watch their directories by default.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}

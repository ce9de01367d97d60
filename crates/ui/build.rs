//! Rebuilds this crate when a UI file is added or renamed, because the list of files is embedded at compile time.

fn main() {
    println!("cargo::rerun-if-changed=../../ui/dist");
}

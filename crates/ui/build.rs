//! Files are listed when this crate is compiled; one that was added or renamed is noticed by nobody else.

fn main() {
    println!("cargo::rerun-if-changed=../../ui/dist");
}

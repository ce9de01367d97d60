//! The migrations are compiled into the crate; cargo sees a new file in their folders only when told to look.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}

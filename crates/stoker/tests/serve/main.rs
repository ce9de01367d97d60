//! The server as users run it: a process, a socket, a folder.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]
#![expect(clippy::disallowed_methods, reason = "tests look at the clock and at the environment")]

mod backup;
mod crash;
mod evidence;
mod five_minutes;
#[path = "../guarded/mod.rs"]
mod guarded;
mod joins;
mod kills;
mod modules;
mod nats;
mod places;
mod plugins;
mod process;
mod repositories;
mod runs;
mod site;
mod ssh;
#[path = "../sshd/mod.rs"]
mod sshd;
mod start;
mod tls;
mod traces;
mod versions;
mod walk;
mod webhooks;

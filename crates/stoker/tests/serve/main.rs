//! The server as users run it: a process, a socket, a folder.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]
#![expect(clippy::disallowed_methods, reason = "tests look at the clock and at the environment")]

mod backup;
mod crash;
mod five_minutes;
mod joins;
mod kills;
mod modules;
mod plugins;
mod process;
mod runs;
mod site;
mod start;
mod walk;

//! Inputs of commands: files, standard input and argument values.

mod data;
mod helpers;
mod lines;
mod parsers;
mod text;
mod vars;

pub(crate) use data::{as_input, read_any_data, read_data};
pub(crate) use helpers::{Helpers, read_helpers, read_library};
pub(crate) use lines::{Line, Lines, catch_panic};
pub(crate) use parsers::{graph_type, mac, user_role};
pub(crate) use text::{Text, read_text};
pub(crate) use vars::{is_name, read_vars};

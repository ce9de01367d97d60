//! What commands read: files, standard input, values given as arguments.

mod data;
mod helpers;
mod lines;
mod text;
mod vars;
mod words;

pub(crate) use data::{as_input, read_any_data, read_data};
pub(crate) use helpers::{Helpers, read_helpers, read_library};
pub(crate) use lines::{Line, Lines, guarded};
pub(crate) use text::{Text, read_text};
pub(crate) use vars::{is_name, read_vars};
pub(crate) use words::{graph_type, mac, user_role};

//! Lossless JSON input and output: integers of any size, key order preserved, and tags for values that JSON
//! lacks.
//!
//! A value that JSON lacks is encoded as an object with the key `$yaql`:
//! `{"$yaql": "datetime", "value": "2017-03-04T10:00:00+02:00"}`, `{"$yaql": "timespan", "us": 1}`,
//! `{"$yaql": "float", "value": "nan"}`, `{"$yaql": "dict", "items": [[key, value], …]}`,
//! and so on for `tuple`, `set`, `iterator` (input only), `regex`, `context`, `callable`.

mod parse;
mod tags;
mod write;

pub use parse::{JsonError, parse};
pub use tags::{InputStyle, decode};
pub(crate) use write::write_after;
pub use write::{WriteOptions, write};

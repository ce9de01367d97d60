//! YAQL, a small query language over JSON-like data.

pub mod error;
pub mod eval;
pub mod json;
pub mod library;
pub mod lint;
pub mod moment;
pub mod people;
pub mod protocol;
pub mod pyregex;
pub mod pytext;
pub mod stdlib;
pub mod syntax;
pub mod value;

pub use error::{Error, ErrorClass, Result, Span};
pub use eval::{Ctx, Cx, Engine, Evaluation, Expression, FixedHost, Host, Input, Limits, Options};
pub use library::{Function, Library};
pub use value::Value;

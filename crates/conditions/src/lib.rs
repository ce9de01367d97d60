//! The condition language of old tasks and of restrictions: `settings:a.b.value == true and not (…)`.
//!
//! ```
//! use stoker_conditions::Condition;
//! use serde_json::json;
//!
//! let condition = Condition::parse("settings:storage.ceph == true and 'ha' in cluster:mode").unwrap();
//! let (settings, cluster) = (json!({"storage": {"ceph": true}}), json!({"mode": "ha_compact"}));
//! let models = |name: &str| match name {
//!     "settings" => Some(&settings),
//!     "cluster" => Some(&cluster),
//!     _ => None,
//! };
//! assert!(condition.holds(&models).unwrap());
//! ```
//!
//! # Grammar
//!
//! From loose to tight: `or` · `and` · `==`, `!=` · `in` · `not` · numbers, text in either kind of quotes (no
//! escapes), `true`, `false`, `null`, parentheses, paths `model:key.key`. Everything associates to the left. So
//! `not a == b` is `(not a) == b` and `not a in b` is `(not a) in b`: old texts rely on it, which is why it stays
//! and [`Condition::remarks`] warns of it.
//!
//! Tasks and restrictions differ in details, which [`Dialect`] lists.
//!
//! # Where the predecessor differs on purpose
//!
//! * It skips characters that it does not know, and `a >= 5` is an error somewhere else; here the character itself
//!   is the error. A `?` after a path is still nothing.
//! * It finds `not true` in `nottrue`, and no model can be called `trueish`; here words end where they end.
//! * A path with an empty key (`settings:a..b`) is an error of the text and not of the data.
//!
//! The crate knows the language alone: which models exist, and what is in them, is told by whoever evaluates.

mod dialect;
mod error;

mod lexer;
mod tree;

mod parser;

mod evaluate;
mod truth;

mod condition;
mod rewrite;

pub use condition::{Condition, Remark};
pub use dialect::Dialect;
pub use error::{ConditionError, codes};
pub use evaluate::{Decision, Models};
pub use rewrite::rewrite_for_deployment;
pub use tree::ModelPath;
pub use truth::is_true;

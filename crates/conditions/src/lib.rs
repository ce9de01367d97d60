//! The condition language of legacy tasks and of restrictions: `settings:a.b.value == true and not (…)`.
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
//! assert!(condition.is_true(&models).unwrap());
//! ```
//!
//! # Grammar
//!
//! By increasing precedence: `or` · `and` · `==`, `!=` · `in` · `not` · numbers, text in single or double
//! quotes (no escapes), `true`, `false`, `null`, parentheses, paths `model:key.key`. All operators associate
//! to the left. So `not a == b` is `(not a) == b` and `not a in b` is `(not a) in b`. Existing conditions
//! rely on this, so it cannot change; [`Condition::warnings`] warns about it.
//!
//! [`Dialect`] lists the differences between tasks and restrictions.
//!
//! # Deliberate differences from Fuel
//!
//! * Fuel skips unknown characters, so that `a >= 5` fails with an unrelated error; here the unknown
//!   character is the error. A `?` after a path is still ignored.
//! * Fuel parses `nottrue` as `not true` and does not allow a model called `trueish`; here words end at word
//!   boundaries.
//! * A path with an empty key (`settings:a..b`) is a syntax error and not an evaluation error.
//!
//! The crate implements only the language: the caller provides the models.

mod dialect;
mod error;

mod lexer;
mod tree;

mod parser;

mod evaluate;
mod truth;

mod condition;
mod rewrite;

pub use condition::Condition;
pub use dialect::Dialect;
pub use error::{ConditionError, codes};
pub use evaluate::{ConditionResult, Models};
pub use rewrite::rewrite_for_deployment;
pub use tree::ModelPath;
pub use truth::is_true;

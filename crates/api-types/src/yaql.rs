//! YAQL: evaluation of expressions, reference of functions.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{identifier, json_map, string_with_length};
use stoker_model::{GraphType, Json, JsonMap};
use utoipa::ToSchema;

use crate::readers::read_graph_type;
use crate::request::request;

const EXPRESSION_CHARS_MAX: usize = 20_000;

/// Result of an evaluation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = YaqlAnswer)]
pub struct AnswerView {
    /// Result with secrets masked. Null in case of an error.
    pub value: Json,
    /// Error of the evaluation.
    pub error: Option<ErrorView>,
    /// Subexpressions with their values. Null if the expression has a syntax error.
    pub explanation: Option<PartView>,
    /// Paths that the expression may read.
    pub reads: Vec<String>,
}

/// Error of an evaluation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = YaqlError)]
pub struct ErrorView {
    /// Human-readable message.
    pub message: String,
    /// Class of the error.
    #[schema(example = "NoMatchingFunctionException")]
    pub class: String,
    /// Suggested fix of the expression.
    pub help: Option<String>,
    /// Start of the span in the expression, as byte offset.
    pub start: Option<u32>,
    /// End of the span in the expression, as byte offset.
    pub end: Option<u32>,
}

/// Subexpression with its values.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = YaqlPart, no_recursion)]
pub struct PartView {
    /// Source text of the subexpression.
    pub text: String,
    /// Number of evaluations.
    pub count: u64,
    /// First few values, truncated.
    pub values: Vec<String>,
    /// Error of the subexpression.
    pub error: Option<String>,
    /// Child expressions.
    #[schema(no_recursion)]
    pub parts: Vec<PartView>,
}

/// Function, method, operator or property.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = YaqlFunction)]
pub struct FunctionView {
    /// Name as it is written in expressions.
    #[schema(example = "where")]
    pub name: String,
    /// Group of related functions.
    #[schema(example = "queries")]
    pub family: String,
    /// Signatures of the function, in the form of calls.
    #[schema(example = json!(["collection.where(predicate)"]))]
    pub signatures: Vec<String>,
    /// Description of the function.
    pub doc: String,
    /// Examples with their results.
    pub examples: Vec<ExampleView>,
}

/// Example of a function.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = YaqlExample)]
pub struct ExampleView {
    /// Expression of the example.
    pub expression: String,
    /// Result as JSON, or the class of the error.
    pub result: String,
}

request! {
    /// Expression and the data over which it is evaluated.
    #[schema(as = YaqlQuestion)]
    pub struct EvaluationBody {
        /// Expression to evaluate.
        #[schema(example = "$.roles", max_length = 20_000)]
        expression: String = required(string_with_length(1..=EXPRESSION_CHARS_MAX)),
        /// ID of the cluster of `node`.
        #[schema(nullable = false, example = 1)]
        cluster: Option<i64> = optional(identifier),
        /// ID of the node whose state is `$`.
        #[schema(nullable = false, example = 3)]
        node: Option<i64> = optional(identifier),
        /// Task whose applied state on the node is the old state.
        #[schema(nullable = false, example = "install")]
        task: Option<String> = optional(string_with_length(1..=255)),
        /// Graph type in which `task` was applied (default `default`).
        #[schema(nullable = false, example = "default", pattern = "^[0-9A-Za-z_-]{1,255}$")]
        #[schema(value_type = Option<String>)]
        graph_type: Option<GraphType> = optional(read_graph_type),
        /// Value of `$` if no node is specified.
        #[schema(nullable = false, value_type = Option<Object>)]
        data: Option<JsonMap> = optional(json_map),
    }
}

//! Errors of the module API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Error of the module API: `{"badRequest": {"code": 400, "message": "…"}}`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ModuleFault)]
pub struct FaultBody(pub BTreeMap<String, serde_json::Value>);

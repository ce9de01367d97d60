//! Parts of the published document that all operations share, added in one place.

use axum::http::Method;
use stoker_model::Permission;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{
    Components, ContentBuilder, Header, Ref, RefOr, Required, Response, ResponseBuilder, SecurityRequirement,
};

use crate::http::media::{JSON, YAML};

/// OpenAPI extension with the permission of an operation.
pub(crate) const PERMISSION_EXTENSION: &str = "x-stoker-permission";

/// Properties that decide which shared parts an operation gets.
pub(crate) struct OperationTraits {
    pub(crate) method: Method,
    pub(crate) permission: Permission,
    /// Whether the path has parameters.
    pub(crate) has_parameters: bool,
    /// Whether the resource has a version for use in `If-Match`.
    pub(crate) is_versioned: bool,
}

/// A response that many operations share.
struct Common {
    status: &'static str,
    /// Name among the components.
    name: &'static str,
    meaning: &'static str,
}

const COMMON: &[Common] = &[
    Common { status: "400", name: "Invalid", meaning: "The request is invalid; nothing was changed" },
    Common { status: "401", name: "Unauthorized", meaning: "The token is missing or invalid" },
    Common { status: "403", name: "Forbidden", meaning: "The caller lacks the required permission" },
    Common { status: "404", name: "NotFound", meaning: "The resource does not exist" },
    Common { status: "408", name: "TooSlow", meaning: "Timeout while reading the body" },
    Common { status: "409", name: "Conflict", meaning: "The request conflicts with existing resources" },
    Common { status: "412", name: "Stale", meaning: "`If-Match` does not match the current version" },
    Common { status: "413", name: "TooLarge", meaning: "The body is too large" },
    Common { status: "415", name: "NotAcceptable", meaning: "No supported media type in `Accept`" },
    Common { status: "416", name: "BeyondTheEnd", meaning: "`offset` is beyond the end of the list" },
    Common { status: "429", name: "TooManyFailures", meaning: "Rate limit exceeded: failed logins or plans" },
    Common {
        status: "503",
        name: "Unavailable",
        meaning: "The database is unavailable, or the server is overloaded; retry later",
    },
];

/// Adds the permission, the shared error responses and the media types.
pub(crate) fn complete(operation: &mut Operation, traits: &OperationTraits) {
    let extensions = operation.extensions.get_or_insert_default();
    extensions.insert(PERMISSION_EXTENSION.to_owned(), traits.permission.as_str().into());
    let is_public = traits.permission == Permission::Public;
    operation.security = Some(if is_public { Vec::new() } else { security() });
    let changes = traits.method != Method::GET && !is_public;
    let is_conditional = changes && traits.method != Method::POST && traits.is_versioned;
    let is_paged = parameters(operation).any(|parameter| parameter.name == "limit");
    if is_conditional {
        operation.parameters.get_or_insert_default().push(RefOr::T(if_match()));
    }
    for common in COMMON {
        let applies = match common.status {
            "401" | "403" | "429" => !is_public,
            "404" => traits.has_parameters,
            "409" => changes,
            "412" => is_conditional,
            "408" | "413" => operation.request_body.is_some(),
            "416" => is_paged,
            _ => true,
        };
        if applies {
            let reference = || RefOr::Ref(Ref::from_response_name(common.name));
            operation.responses.responses.entry(common.status.to_owned()).or_insert_with(reference);
        }
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        also_yaml(response);
        if is_paged && status == "200" {
            response.headers.insert("Content-Range".to_owned(), RefOr::T(content_range()));
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && let Some(content) = body.content.get(JSON).cloned()
    {
        body.content.insert(YAML.to_owned(), content);
    }
}

/// Adds the shared responses to the components.
pub(crate) fn add_components(components: &mut Components) {
    for Common { status, name, meaning } in COMMON {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
        let mut response = ResponseBuilder::new().description(*meaning).content(JSON, content).build();
        also_yaml(&mut response);
        let header = match *status {
            "416" => Some(("Content-Range", content_range())),
            "429" | "503" => Some(("Retry-After", header(Type::Integer, "Seconds to wait before retrying"))),
            _ => None,
        };
        response.headers.extend(header.map(|(name, header)| (name.to_owned(), RefOr::T(header))));
        components.responses.insert((*name).to_owned(), RefOr::T(response));
    }
}

/// Returns the declared query keys of an operation.
pub(crate) fn query_keys(operation: &Operation) -> Vec<String> {
    let in_query = |parameter: &&Parameter| parameter.parameter_in == ParameterIn::Query;
    parameters(operation).filter(in_query).map(|parameter| parameter.name.clone()).collect()
}

fn parameters(operation: &Operation) -> impl Iterator<Item = &Parameter> {
    operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    })
}

/// Adds YAML to a response: every JSON response is available as YAML.
fn also_yaml(response: &mut Response) {
    if let Some(content) = response.content.get(JSON).cloned() {
        response.content.insert(YAML.to_owned(), content);
    }
}

fn if_match() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    // A list of tags, or `*`.
    let schema = schema.pattern(Some(r#"^(\*|"[0-9]+"(, ?"[0-9]+")*)$"#)).examples(["\"3\""]);
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Version to change, from the `ETag` of an earlier response; `*` accepts any version",
        ))
        .schema(Some(schema))
        .build()
}

fn content_range() -> Header {
    header(Type::String, "`objects FIRST-LAST/TOTAL`, counted from 0")
}

fn header(kind: Type, description: &str) -> Header {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build();
    HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build()
}

fn security() -> Vec<SecurityRequirement> {
    ["token", "bearer", "basic"].map(|scheme| SecurityRequirement::new(scheme, Vec::<String>::new())).to_vec()
}

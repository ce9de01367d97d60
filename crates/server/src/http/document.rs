//! What the published document says of every operation of a kind, so that no operation says it itself.

use axum::http::Method;
use stoker_model::Permission;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{
    Components, ContentBuilder, Header, Ref, RefOr, Required, Response, ResponseBuilder, SecurityRequirement,
};

use crate::http::media::{JSON, YAML};

/// The extension of an operation in the published document that names its permission.
pub(crate) const PERMISSION_EXTENSION: &str = "x-stoker-permission";

/// What decides about the common part of an operation.
pub(crate) struct Kind {
    pub(crate) method: Method,
    pub(crate) permission: Permission,
    /// Whether the path names a thing.
    pub(crate) has_parameters: bool,
    /// Whether that thing has a version, which a change may be bound to.
    pub(crate) is_versioned: bool,
}

/// An answer that many operations have in common.
struct Common {
    status: &'static str,
    /// Its name among the components.
    name: &'static str,
    meaning: &'static str,
}

const COMMON: &[Common] = &[
    Common { status: "400", name: "Invalid", meaning: "Not valid; nothing was changed" },
    Common { status: "401", name: "Unauthorized", meaning: "No token, or a bad one" },
    Common { status: "403", name: "Forbidden", meaning: "Not allowed" },
    Common { status: "404", name: "NotFound", meaning: "Not there" },
    Common { status: "408", name: "TooSlow", meaning: "The body did not come to its end in time" },
    Common { status: "409", name: "Conflict", meaning: "Taken, or in the way of something else" },
    Common { status: "412", name: "Stale", meaning: "`If-Match` names another version than the present one" },
    Common { status: "413", name: "TooLarge", meaning: "The body is too large" },
    Common { status: "415", name: "NotAcceptable", meaning: "`Accept` names no type we have" },
    Common { status: "416", name: "BeyondTheEnd", meaning: "`offset` is beyond the end" },
    Common { status: "429", name: "TooManyFailures", meaning: "Too many failed logins, or too many plans" },
    Common {
        status: "503",
        name: "Unavailable",
        meaning: "The database does not answer, or too much is asked at once; try again",
    },
];

/// Adds what is true of every operation of its kind: the permission, the errors it may answer with, media types.
pub(crate) fn complete(operation: &mut Operation, kind: &Kind) {
    let extensions = operation.extensions.get_or_insert_default();
    extensions.insert(PERMISSION_EXTENSION.to_owned(), kind.permission.as_str().into());
    let is_public = kind.permission == Permission::Public;
    operation.security = Some(if is_public { Vec::new() } else { security() });
    let changes = kind.method != Method::GET && !is_public;
    let is_conditional = changes && kind.method != Method::POST && kind.is_versioned;
    let is_paged = parameters(operation).any(|parameter| parameter.name == "limit");
    if is_conditional {
        operation.parameters.get_or_insert_default().push(RefOr::T(if_match()));
    }
    for common in COMMON {
        let applies = match common.status {
            "401" | "403" | "429" => !is_public,
            "404" => kind.has_parameters,
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

/// Puts the common answers where the operations refer to them.
pub(crate) fn add_components(components: &mut Components) {
    for Common { status, name, meaning } in COMMON {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
        let mut response = ResponseBuilder::new().description(*meaning).content(JSON, content).build();
        also_yaml(&mut response);
        let header = match *status {
            "416" => Some(("Content-Range", content_range())),
            "429" | "503" => {
                Some(("Retry-After", header(Type::Integer, "Seconds to wait before another try")))
            }
            _ => None,
        };
        response.headers.extend(header.map(|(name, header)| (name.to_owned(), RefOr::T(header))));
        components.responses.insert((*name).to_owned(), RefOr::T(response));
    }
}

fn parameters(operation: &Operation) -> impl Iterator<Item = &Parameter> {
    operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    })
}

/// Whoever can read the JSON can have it as YAML.
fn also_yaml(response: &mut Response) {
    if let Some(content) = response.content.get(JSON).cloned() {
        response.content.insert(YAML.to_owned(), content);
    }
}

fn if_match() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    // As many tags as one likes, or any version.
    let schema = schema.pattern(Some(r#"^(\*|"[0-9]+"(, ?"[0-9]+")*)$"#)).examples(["\"3\""]);
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("Change only this version, which `ETag` of an earlier answer named; `*` is any"))
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

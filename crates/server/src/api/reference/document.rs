//! OpenAPI document: the documentation of all operations, and general information about the API.

use stoker_api_types::error::{Envelope, ErrorItem};
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};

use crate::api;
use crate::http::document::add_components;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Stoker",
        description = "Deployment graphs, plans and runs. Every path may end with a slash. Request and response bodies are JSON \
                       or YAML (`Content-Type`, `Accept`). Log in at `/keystone/v2.0/tokens` or `/v3/auth/tokens` and \
                       send the token in `X-Auth-Token`; HTTP Basic works too.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(Envelope, ErrorItem))
)]
struct ApiDoc;

/// Generates the OpenAPI 3.1 document from the code.
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = ApiDoc::openapi();
    document.merge(api::routes().into_openapi());
    if let Some(components) = &mut document.components {
        add_components(components);
        let token =
            ApiKey::Header(ApiKeyValue::with_description("X-Auth-Token", "Token that a login returned"));
        components.add_security_scheme("token", SecurityScheme::ApiKey(token));
        components.add_security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        components.add_security_scheme("basic", SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)));
    }
    document
}

/// Returns the document as it is stored in the repository.
pub fn text() -> String {
    let mut text = document().to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

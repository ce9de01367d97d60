//! Registration of operations: route, OpenAPI documentation and required permission in one declaration.

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use stoker_model::Permission;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::access::caller::Login;
use crate::http::{document, media};
use crate::state::App;

/// Collects the operations of a resource.
pub(crate) struct Routes {
    router: OpenApiRouter<App>,
    tag: &'static str,
}

impl Routes {
    /// Creates a list of operations. `tag` groups them on the API reference page.
    pub(crate) fn new(tag: &'static str) -> Self {
        Self { router: OpenApiRouter::default(), tag }
    }

    /// Adds the operations of `routes!` and requires `permission` for them. Handlers that modify a versioned
    /// resource must take [`IfMatch`](crate::http::etag::IfMatch).
    pub(crate) fn add(self, permission: Permission, routes: UtoipaMethodRouter<App>) -> Self {
        self.add_with(permission, &[], true, routes)
    }

    /// Adds operations on resources that have no version, so that `If-Match` does not apply.
    pub(crate) fn add_unversioned(self, permission: Permission, routes: UtoipaMethodRouter<App>) -> Self {
        self.add_with(permission, &[], false, routes)
    }

    /// Adds operations that serve `own_types` in addition to JSON and YAML.
    pub(crate) fn add_serving(
        self,
        permission: Permission,
        own_types: &'static [&'static str],
        routes: UtoipaMethodRouter<App>,
    ) -> Self {
        self.add_with(permission, own_types, true, routes)
    }

    fn add_with(
        mut self,
        permission: Permission,
        own_types: &'static [&'static str],
        is_versioned: bool,
        (schemas, mut paths, methods): UtoipaMethodRouter<App>,
    ) -> Self {
        for (path, item) in &mut paths.paths {
            let has_parameters = path.contains('{');
            for (method, operation) in operations(item) {
                operation.tags = Some(vec![self.tag.to_owned()]);
                document::complete(
                    operation,
                    &document::Kind { method, permission, has_parameters, is_versioned },
                );
            }
        }
        let methods = methods
            .route_layer(from_fn(move |request, next| media::negotiate(own_types, request, next)))
            .route_layer(from_fn(move |request, next| require(permission, request, next)));
        self.router = self.router.routes((schemas, paths, methods));
        self
    }

    pub(crate) fn finish(self) -> OpenApiRouter<App> {
        self.router
    }
}

async fn require(permission: Permission, request: Request, next: Next) -> Response {
    if permission != Permission::Public {
        let login = request.extensions().get::<Login>();
        if let Err(error) = login.unwrap_or(&Login::Missing).require(permission) {
            return error.into_response();
        }
    }
    next.run(request).await
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let by_method = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::DELETE, &mut item.delete),
        (Method::PATCH, &mut item.patch),
    ];
    by_method.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

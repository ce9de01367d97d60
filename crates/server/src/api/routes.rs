//! Registration of operations: route, OpenAPI documentation and required permission in one declaration.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use stoker_model::Permission;
use utoipa::openapi::path::{Operation, PathItem, Paths};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::access::caller::Login;
use crate::http::{body, document, media, query};
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
                    &document::OperationTraits { method, permission, has_parameters, is_versioned },
                );
            }
        }
        let declared = DeclaredInputs::of(&mut paths);
        let methods = methods
            .route_layer(from_fn(move |request, next| declared.clone().check(request, next)))
            .route_layer(from_fn(move |request, next| media::negotiate(own_types, request, next)))
            .route_layer(from_fn(move |request, next| require(permission, request, next)));
        self.router = self.router.routes((schemas, paths, methods));
        self
    }

    pub(crate) fn finish(self) -> OpenApiRouter<App> {
        self.router
    }
}

/// Input that the operations of one path declare, by method.
#[derive(Clone)]
struct DeclaredInputs(Arc<Vec<(Method, DeclaredInput)>>);

struct DeclaredInput {
    query_keys: Vec<String>,
    has_body: bool,
}

impl DeclaredInputs {
    fn of(paths: &mut Paths) -> Self {
        let of_item = |item| {
            operations(item).map(|(method, operation)| {
                let query_keys = document::query_keys(operation);
                (method, DeclaredInput { query_keys, has_body: operation.request_body.is_some() })
            })
        };
        Self(Arc::new(paths.paths.values_mut().flat_map(of_item).collect()))
    }

    /// Rejects a request with input that its operation does not declare: a misspelt `dry_run`, or options in the body of
    /// an operation that reads only the query, must not start a run.
    async fn check(self, request: Request, next: Next) -> Response {
        // The router serves HEAD by the handler of GET.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some((method, declared)) = self.0.iter().find(|(declared, _)| declared == method) else {
            return next.run(request).await;
        };
        let query = request.uri().query().unwrap_or_default();
        if let Err(error) = query::refuse_unknown(query, &declared.query_keys) {
            return error.into_response();
        }
        if method == Method::GET || declared.has_body {
            return next.run(request).await;
        }
        match body::refuse_content(request).await {
            Ok(request) => next.run(request).await,
            Err(error) => error.into_response(),
        }
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

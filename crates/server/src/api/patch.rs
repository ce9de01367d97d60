//! `PATCH` of resources whose `PUT` leaves omitted fields unchanged: both are the same operation.

/// Declares the `PATCH` operation of a resource that is addressed by its ID.
macro_rules! patch_as_put {
    ($vis:vis $patch:ident = $put:ident, $path:tt, $summary:tt, $body:ty => $view:ty) => {
        #[utoipa::path(
            patch, path = $path, summary = $summary, description = "Same as `PUT`.",
            params(("id" = i64, Path)), request_body = $body, responses((status = 200, body = $view))
        )]
        $vis async fn $patch(
            app: axum::extract::State<crate::state::App>,
            login: crate::access::caller::Authenticated,
            path: crate::http::path::PathParams,
            condition: crate::http::etag::IfMatch,
            document: crate::http::body::Document,
        ) -> impl axum::response::IntoResponse {
            $put(app, login, path, condition, document).await
        }
    };
}

pub(crate) use patch_as_put;

//! Declaration of request types: [`request!`] and what it expands to.

use stoker_manifest::reader::Fields;

/// A request body that is a map, read from its keys. `request!` implements it.
pub trait Request: Sized {
    /// Keys of responses that a request may repeat, because clients send back what they read. [`Request::read`] skips them;
    /// the handler of an update compares them with the stored resource.
    const READ_ONLY: &'static [&'static str] = &[];

    /// Reads the declared keys and reports all problems with their positions; `None` if a required key is missing or
    /// invalid. Other keys remain in `fields`.
    fn read(fields: &mut Fields<'_, '_>) -> Option<Self>;
}

/// Declares a request type once: its fields, its schema and its reader.
///
/// Each field declares after its type how its key is read. `reader` is a function of
/// [`stoker_manifest::reader`], or a function with the same signature:
///
/// | declaration | type | meaning |
/// |---|---|---|
/// | `required(reader)` | `T` | an absent key is a problem |
/// | `optional(reader)` | `Option<T>` | the key may be absent |
/// | `nullable(reader)` | `Option<T>` | the key may be absent; null means absent |
/// | `update(reader)` | `FieldUpdate<T>` | the key may be absent, and null has its own meaning |
/// | `in_document(reader)` | `Option<T>` | the key may be absent; `reader` also gets the text of the document |
/// | `fields(reader)` | `T` | `reader` takes its keys from all [`Fields`] |
///
/// A field whose type differs from its JSON form names that form in `#[schema(value_type = …)]`. Keys after `read_only`
/// must equal the stored values. Keys after `ignored` are accepted and not read; each list of them states the reason. A field after
/// `user_defined` gets the keys that users may add, and those known keys that are stored without a reader. A function after
/// `check` reports problems that concern several fields.
macro_rules! request {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $how:ident($reader:expr), )*
        }
        $( read_only: $($read_only:literal),+; )?
        $( ignored: $($ignored:literal),+; )?
        $( $(#[$own_meta:meta])* user_defined: $own:ident($stored:expr); )?
        $( check: $check:expr; )?
    ) => {
        #[derive(utoipa::ToSchema)]
        $(#[$meta])*
        $vis struct $name {
            $( $(#[$field_meta])* $vis $field: $type, )*
            $( $(#[$own_meta])* #[schema(ignore)] $vis $own: stoker_model::JsonMap, )?
        }

        impl $crate::request::Request for $name {
            $( const READ_ONLY: &'static [&'static str] = &[$($read_only),+]; )?

            fn read(fields: &mut stoker_manifest::reader::Fields<'_, '_>) -> Option<Self> {
                $( let $field = request!(@read $how, fields, $crate::request::key(stringify!($field)), $reader); )*
                fields.ignore(<Self as $crate::request::Request>::READ_ONLY);
                $( fields.ignore(&[$($ignored),+]); )?
                $( let $own = $crate::readers::read_user_defined(fields, $stored); )?
                let request = Self { $( $field: request!(@value $how, $field), )* $( $own, )? };
                $(
                    let check: fn(&Self, &mut stoker_manifest::reader::Fields<'_, '_>) = $check;
                    check(&request, fields);
                )?
                Some(request)
            }
        }
    };
    (@read nullable, $fields:ident, $key:expr, $reader:expr) => {
        $fields.optional($key, stoker_manifest::reader::nullable($reader)).flatten()
    };
    (@read in_document, $fields:ident, $key:expr, $reader:expr) => {{
        let text = $fields.text();
        $fields.optional($key, |node, problems| $reader(node, text, problems))
    }};
    (@read fields, $fields:ident, $key:expr, $reader:expr) => { $reader($fields) };
    (@read $how:ident, $fields:ident, $key:expr, $reader:expr) => { $fields.$how($key, $reader) };
    (@value required, $field:ident) => { $field? };
    (@value $how:ident, $field:ident) => { $field };
}
pub(crate) use request;

/// Returns the key of a field: its name, without the prefix of raw identifiers.
pub(crate) fn key(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use stoker_diagnostics::Diagnostics;
    use stoker_manifest::reader::{FieldUpdate, boolean, identifier, string_with_length};
    use stoker_manifest::{Format, parse};
    use utoipa::PartialSchema as _;

    use super::*;

    request! {
        /// Example.
        struct ExampleBody {
            /// Name of the example.
            #[schema(min_length = 1)]
            r#type: String = required(string_with_length(1..=9)),
            /// Cluster; null for none.
            #[schema(value_type = Option<i64>)]
            cluster: FieldUpdate<i64> = update(identifier),
            label: Option<String> = nullable(string_with_length(1..=9)),
            #[schema(nullable = false)]
            enabled: Option<bool> = optional(boolean),
        }
        read_only: "id";
    }

    fn read(text: &str) -> (Option<ExampleBody>, Vec<String>) {
        let node = parse(text, Format::Json).unwrap();
        let mut problems = Diagnostics::default();
        let mut fields = Fields::new(&node, &mut problems).unwrap();
        let body = ExampleBody::read(&mut fields);
        fields.finish();
        let messages = problems.into_vec().into_iter().map(|problem| {
            let line = problem.location.span.map_or(0, |span| span.start.line);
            format!("{line} {}: {}", problem.location.path, problem.message)
        });
        (body, messages.collect())
    }

    #[test]
    fn all_problems_are_reported_with_their_lines() {
        let (body, messages) = read("{\n\"cluster\": 0,\n\"label\": \"\",\n\"enabled\": null,\n\"nmae\": 1}");
        assert!(body.is_none());
        assert_eq!(
            messages,
            [
                "2 type: `type` is missing",
                "2 cluster: must be at least 1, got 0",
                "3 label: must have 1 to 9 characters, got 0",
                "4 enabled: must be true or false, got null",
                "5 nmae: unknown key `nmae`",
            ]
        );
    }

    #[test]
    fn absent_null_and_read_only_keys_are_distinguished() {
        let (body, messages) = read(r#"{"type": "a", "cluster": null, "label": null, "id": 7}"#);
        assert_eq!(messages, Vec::<String>::new());
        let ExampleBody { r#type, cluster, label, enabled } = body.unwrap();
        assert_eq!((r#type.as_str(), cluster, label, enabled), ("a", FieldUpdate::Null, None, None));
        assert_eq!(ExampleBody::READ_ONLY, ["id"]);
    }

    #[test]
    fn the_schema_has_the_declared_keys() {
        let schema = serde_json::to_value(ExampleBody::schema()).unwrap();
        assert_eq!(schema["required"], serde_json::json!(["type"]));
        assert_eq!(schema["properties"]["type"]["description"], "Name of the example.");
        assert_eq!(schema["properties"]["cluster"]["type"], serde_json::json!(["integer", "null"]));
        assert_eq!(schema["properties"]["enabled"]["type"], "boolean");
        assert_eq!(schema["properties"].as_object().unwrap().len(), 4);
    }
}

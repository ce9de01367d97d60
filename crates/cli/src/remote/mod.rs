//! Support for commands that talk to a server: connection, requests, error rendering and output formats.

mod credentials;
mod errors;
mod grid;
mod options;
mod table;

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use stoker_client::{Address, ApiToken, Body, Client, ClientError, Method, Response, RestRequest};

pub(crate) use self::credentials::{Credentials, StoredLogin};
pub(crate) use self::errors::{diagnostic, failure, with_force_hint};
pub(crate) use self::options::{Format, Options, ResolvedOptions, SharedConnection, SharedOptions};
pub(crate) use self::table::{Columns, cell, display, grid, sanitize};
use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::input::Text;
use crate::printer::Printer;
use crate::terminal;

const DEFAULT_SERVER: &str = "http://127.0.0.1:8000";
const DEFAULT_USER: &str = "admin";

/// A connected client and the output options of the command.
pub(crate) struct Remote<'p> {
    client: Client,
    pub(crate) printer: &'p mut Printer,
    format: Format,
    is_quiet: bool,
    is_verbose: bool,
}

/// The selected server with its stored login.
pub(crate) struct Target {
    pub(crate) address: Address,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) stored: Option<StoredLogin>,
    pub(crate) credentials: Credentials,
}

impl Target {
    pub(crate) fn of(options: &ResolvedOptions) -> Outcome<Self> {
        let credentials = Credentials::read()?;
        let url = options.server.clone().or_else(environment::server);
        let url = url.or_else(|| credentials.current().map(str::to_owned));
        let address = Address::parse(url.as_deref().unwrap_or(DEFAULT_SERVER))
            .map_err(|error| errors::failure(error, None))?;
        let stored = credentials.of(address.as_str());
        let stored_ca_file = || stored.as_ref().and_then(|login| login.ca_file.clone());
        let ca_file = options.ca_file.clone().or_else(environment::ca_file).or_else(stored_ca_file);
        Ok(Self { address, ca_file, stored, credentials })
    }

    /// Returns an unauthenticated client.
    pub(crate) fn client(&self) -> Outcome<Client> {
        let client = Client::new(self.address.clone(), self.ca_file.as_deref());
        client.map_err(|error| errors::failure(error, None))
    }
}

/// Exchanges a password for a token.
pub(crate) fn log_in(
    client: &Client,
    user: &str,
    password: &str,
    tenant: Option<&str>,
) -> Outcome<stoker_client::Login> {
    client.log_in(user, password, tenant).map_err(|error| match error {
        ClientError::Rejected(refusal) if refusal.status == 401 => {
            Failure::failed("wrong user name or password")
        }
        error => errors::failure(error, None),
    })
}

pub(crate) fn user_or_default(user: Option<&str>) -> String {
    user.map(str::to_owned).or_else(environment::user).unwrap_or_else(|| DEFAULT_USER.to_owned())
}

impl<'p> Remote<'p> {
    /// Authenticates with the first of: `--token`, `STOKER_TOKEN`, the stored login, `STOKER_PASSWORD`.
    pub(crate) fn connect(options: &ResolvedOptions, printer: &'p mut Printer) -> Outcome<Self> {
        let target = Target::of(options)?;
        let client = target.client()?;
        let token = options.token.clone().or_else(environment::token);
        let token = match token.or_else(|| target.stored.map(|login| login.token)) {
            Some(token) => Some(ApiToken::new(token)),
            None => match environment::password() {
                Some(password) => Some(log_in(&client, &user_or_default(None), &password, None)?.token),
                None => None,
            },
        };
        Ok(Self::with(client.with_token(token), options, printer))
    }

    /// Returns an unauthenticated instance for output that needs no request.
    pub(crate) fn offline(
        options: &ResolvedOptions,
        target: &Target,
        printer: &'p mut Printer,
    ) -> Outcome<Self> {
        Ok(Self::with(target.client()?, options, printer))
    }

    fn with(client: Client, options: &ResolvedOptions, printer: &'p mut Printer) -> Self {
        Self {
            client,
            printer,
            format: options.format.unwrap_or_default(),
            is_quiet: options.is_quiet,
            is_verbose: options.is_verbose,
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Reports whether long values are printed in full.
    pub(crate) fn is_verbose(&self) -> bool {
        self.is_verbose
    }

    /// Gets the resource at a path below `/api/v1/`.
    pub(crate) fn get(&mut self, path: impl Into<String>) -> Outcome<Json> {
        self.send(&RestRequest::get(path))
    }

    /// Gets a list of resources.
    pub(crate) fn get_list(&mut self, request: &RestRequest<'_>) -> Outcome<Vec<Json>> {
        match self.send(request)? {
            Json::Array(resources) => Ok(resources),
            other => Ok(vec![other]),
        }
    }

    /// Gets a resource that the command interprets.
    pub(crate) fn read<T: DeserializeOwned>(&mut self, path: impl Into<String>) -> Outcome<T> {
        typed(&self.get(path)?)
    }

    /// Gets a list of resources that the command interprets.
    pub(crate) fn read_list<T: DeserializeOwned>(&mut self, request: &RestRequest<'_>) -> Outcome<Vec<T>> {
        self.get_list(request)?.iter().map(typed).collect()
    }

    /// Sends a JSON document.
    pub(crate) fn send_json(
        &mut self,
        method: Method,
        path: impl Into<String>,
        body: &Json,
    ) -> Outcome<Json> {
        self.send(&RestRequest::new(method, path).body(Body::Json(body)))
    }

    pub(crate) fn delete(&mut self, path: impl Into<String>) -> Outcome<Json> {
        self.send(&RestRequest::new(Method::Delete, path))
    }

    pub(crate) fn send(&mut self, request: &RestRequest<'_>) -> Outcome<Json> {
        let response = self.try_send(request).and_then(|response| response.json());
        response.map_err(|error| errors::failure(error, None))
    }

    /// Uploads a file; problems are shown in its source.
    pub(crate) fn upload(&mut self, request: RestRequest<'_>, text: &Text) -> Outcome<Json> {
        self.try_upload(request, text).map_err(|error| errors::failure(error, Some(text)))
    }

    /// Like [`Self::upload`], for callers that handle some errors themselves.
    pub(crate) fn try_upload(&mut self, request: RestRequest<'_>, text: &Text) -> Result<Json, ClientError> {
        let content: &str = &text.content;
        let body = match text.format() {
            stoker_manifest::Format::Json => Body::JsonText(content),
            stoker_manifest::Format::Yaml => Body::Yaml(content),
        };
        self.try_send(&request.body(body))?.json()
    }

    /// Sends a request and returns the raw response.
    pub(crate) fn try_send(&mut self, request: &RestRequest<'_>) -> Result<Response, ClientError> {
        if self.is_verbose {
            self.printer.note(&format!("> {request}"));
        }
        let response = self.client.send(request);
        if self.is_verbose {
            match &response {
                Ok(response) => {
                    self.printer.note(&format!("< {}, {} bytes", response.status, response.bytes.len()));
                }
                Err(error) => self.printer.note(&format!("< {error}")),
            }
        }
        response
    }

    /// Prints resources as a table or as data; with `--quiet` only their IDs.
    pub(crate) fn list(&mut self, columns: Columns<'_>, resources: Vec<Json>) -> Outcome {
        if self.is_quiet && self.format == Format::Table {
            let ids: Vec<String> =
                resources.iter().map(|resource| cell(&resource[id_key(resource)])).collect();
            return if ids.is_empty() { Ok(()) } else { Ok(self.printer.data(&ids.join("\n"))?) };
        }
        match self.format {
            Format::Table if resources.is_empty() => {
                self.note("no results");
                Ok(())
            }
            Format::Table => Ok(self.printer.page(&table::list(columns, &resources))?),
            _ => self.data(&Json::Array(resources)),
        }
    }

    /// Prints one resource; with `--quiet` only its ID.
    pub(crate) fn details(&mut self, columns: Columns<'_>, resource: &Json) -> Outcome {
        match self.format {
            Format::Table if self.is_quiet => Ok(self.printer.data(&cell(&resource[id_key(resource)]))?),
            Format::Table => Ok(self.printer.page(&table::details(columns, resource))?),
            _ => self.data(resource),
        }
    }

    /// Prints a response as data: YAML if requested, otherwise JSON.
    pub(crate) fn data(&mut self, response: &Json) -> Outcome {
        let text = match self.format {
            Format::Yaml => stoker_manifest::to_yaml(response),
            Format::Table | Format::Json => format!("{response:#}"),
        };
        Ok(self.printer.data(&text)?)
    }

    /// Reports the result of a change with the ID of the resource; with `--quiet` only the ID.
    pub(crate) fn report_change(&mut self, action: &str, resource: &Json) -> Outcome {
        if self.format != Format::Table {
            return self.data(resource);
        }
        let id = cell(&resource[id_key(resource)]);
        if self.is_quiet {
            Ok(self.printer.data(&id)?)
        } else {
            Ok(self.printer.page(&format!("{action} {id}"))?)
        }
    }

    /// Writes a line to standard error, unless `--quiet` is set.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.is_quiet {
            self.printer.note(text);
        }
    }

    /// Writes the `warnings` of a response to standard error, unless `--quiet` is set.
    pub(crate) fn note_warnings(&mut self, response: &Json) {
        let warnings = response.get("warnings").and_then(Json::as_array).into_iter().flatten();
        for warning in warnings.filter_map(Json::as_str) {
            self.note(&format!("warning: {warning}"));
        }
    }
}

/// Asks for confirmation, unless `--yes` was passed.
pub(crate) fn confirm(question: &str, is_confirmed: bool) -> Outcome {
    if is_confirmed || terminal::confirm(question) {
        return Ok(());
    }
    let mut failure = Failure::failed("cancelled: not confirmed");
    failure.diagnostics[0].help = Some("pass `--yes` to skip the confirmation".to_owned());
    Err(failure)
}

/// Reads a response into its type. Commands print the response itself, because a newer server may send fields that the type
/// does not have.
pub(crate) fn typed<T: DeserializeOwned>(response: &Json) -> Outcome<T> {
    T::deserialize(response).map_err(|error| {
        let mut failure = Failure::failed(format!("unexpected response of the server: {error}"));
        let help = "run `stoker doctor server` to compare the versions of client and server";
        failure.diagnostics[0].help = Some(help.to_owned());
        failure
    })
}

/// Sets a field of a request, or a computed column of a response.
pub(crate) fn set(document: &mut Json, key: &str, value: impl Serialize) {
    document[key] = serde_json::json!(value);
}

/// Returns the key that identifies a resource: most have an `id`, some only a `name`.
fn id_key(resource: &Json) -> &'static str {
    if resource.get("id").is_none_or(Json::is_null) { "name" } else { "id" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_api_types::notifications::NotificationView;

    use super::*;

    #[test]
    fn responses_without_a_required_field_are_rejected() {
        let failure = typed::<NotificationView>(&json!({"id": 3})).unwrap_err();
        assert!(failure.diagnostics[0].message.contains("missing field `topic`"));
    }

    #[test]
    fn fields_and_words_of_newer_servers_are_accepted() {
        let response = json!({"id": 3, "topic": "run.exploded", "message": "", "status": "archived", "at": "",
                              "cluster": null, "run": null, "node": null, "priority": 1});
        let notification: NotificationView = typed(&response).unwrap();
        assert_eq!((notification.topic.as_str(), notification.status.as_str()), ("run.exploded", "archived"));
    }
}

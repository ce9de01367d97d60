//! Commands that talk to a server: one client, one way to ask, to refuse and to show.

mod credentials;
mod grid;
mod options;
mod refusal;
mod table;

use std::path::PathBuf;

use serde_json::Value as Json;
use stoker_client::{Address, Answer, Body, Client, ClientError, Method, Request, Token};

pub(crate) use self::credentials::{Credentials, Stored};
pub(crate) use self::options::{Format, Options, Shared, SharedConnection, Wanted};
pub(crate) use self::refusal::{diagnostic, failure, origin};
pub(crate) use self::table::{Columns, cell, grid, plain};
use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::input::Text;
use crate::printer::Printer;
use crate::terminal;

const DEFAULT_SERVER: &str = "http://127.0.0.1:8000";
const DEFAULT_USER: &str = "admin";

/// A server, and how its answers are shown.
pub(crate) struct Remote<'p> {
    client: Client,
    pub(crate) printer: &'p mut Printer,
    format: Format,
    is_quiet: bool,
    is_verbose: bool,
}

/// Which server is meant, and what is known of it.
pub(crate) struct Target {
    pub(crate) address: Address,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) stored: Option<Stored>,
    pub(crate) credentials: Credentials,
}

impl Target {
    pub(crate) fn of(wanted: &Wanted) -> Outcome<Self> {
        let credentials = Credentials::read()?;
        let url = wanted.server.clone().or_else(environment::server);
        let url = url.or_else(|| credentials.current().map(str::to_owned));
        let address = Address::parse(url.as_deref().unwrap_or(DEFAULT_SERVER))
            .map_err(|error| refusal::failure(error, None))?;
        let stored = credentials.of(address.as_str());
        let remembered = || stored.as_ref().and_then(|login| login.ca_file.clone());
        let ca_file = wanted.ca_file.clone().or_else(environment::ca_file).or_else(remembered);
        Ok(Self { address, ca_file, stored, credentials })
    }

    /// A client that nobody knows yet.
    pub(crate) fn client(&self) -> Outcome<Client> {
        let client = Client::new(self.address.clone(), self.ca_file.as_deref());
        client.map_err(|error| refusal::failure(error, None))
    }
}

/// Trades a password for a token.
pub(crate) fn log_in(
    client: &Client,
    user: &str,
    password: &str,
    tenant: Option<&str>,
) -> Outcome<stoker_client::Login> {
    client.log_in(user, password, tenant).map_err(|error| match error {
        ClientError::Refused(refusal) if refusal.status == 401 => {
            Failure::failed(format!("name or password is wrong ({refusal})"))
        }
        error => refusal::failure(error, None),
    })
}

pub(crate) fn user_or_default(user: Option<&str>) -> String {
    user.map(str::to_owned).or_else(environment::user).unwrap_or_else(|| DEFAULT_USER.to_owned())
}

impl<'p> Remote<'p> {
    /// With the token that was given, else that of the environment, else that of the last login, else with a
    /// password of the environment.
    pub(crate) fn connect(wanted: &Wanted, printer: &'p mut Printer) -> Outcome<Self> {
        let target = Target::of(wanted)?;
        let client = target.client()?;
        let token = wanted.token.clone().or_else(environment::token);
        let token = match token.or_else(|| target.stored.map(|login| login.token)) {
            Some(token) => Some(Token::new(token)),
            None => match environment::password() {
                Some(password) => Some(log_in(&client, &user_or_default(None), &password, None)?.token),
                None => None,
            },
        };
        Ok(Self::with(client.with_token(token), wanted, printer))
    }

    /// For what is shown without asking the server.
    pub(crate) fn show_only(wanted: &Wanted, target: &Target, printer: &'p mut Printer) -> Outcome<Self> {
        Ok(Self::with(target.client()?, wanted, printer))
    }

    fn with(client: Client, wanted: &Wanted, printer: &'p mut Printer) -> Self {
        Self {
            client,
            printer,
            format: wanted.format.unwrap_or_default(),
            is_quiet: wanted.is_quiet,
            is_verbose: wanted.is_verbose,
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

    /// Whether what is told shortly is to be told in full.
    pub(crate) fn is_verbose(&self) -> bool {
        self.is_verbose
    }

    /// What is at a path under `/api/v1/`.
    pub(crate) fn get(&mut self, path: impl Into<String>) -> Outcome<Json> {
        self.send(&Request::get(path))
    }

    /// A list of things.
    pub(crate) fn get_list(&mut self, request: &Request<'_>) -> Outcome<Vec<Json>> {
        match self.send(request)? {
            Json::Array(things) => Ok(things),
            other => Ok(vec![other]),
        }
    }

    /// Sends a document.
    pub(crate) fn send_json(
        &mut self,
        method: Method,
        path: impl Into<String>,
        body: &Json,
    ) -> Outcome<Json> {
        self.send(&Request::new(method, path).body(Body::Json(body)))
    }

    pub(crate) fn delete(&mut self, path: impl Into<String>) -> Outcome<Json> {
        self.send(&Request::new(Method::Delete, path))
    }

    pub(crate) fn send(&mut self, request: &Request<'_>) -> Outcome<Json> {
        let answer = self.try_send(request).and_then(|answer| answer.json());
        answer.map_err(|error| refusal::failure(error, None))
    }

    /// Sends a file as it is; what is wrong with it is shown in it.
    pub(crate) fn upload(&mut self, request: Request<'_>, text: &Text) -> Outcome<Json> {
        self.try_upload(request, text).map_err(|error| refusal::failure(error, Some(text)))
    }

    /// The same for callers that know what to do about some refusals.
    pub(crate) fn try_upload(&mut self, request: Request<'_>, text: &Text) -> Result<Json, ClientError> {
        let content: &str = &text.content;
        let body = match text.format() {
            stoker_manifest::Format::Json => Body::JsonText(content),
            stoker_manifest::Format::Yaml => Body::Yaml(content),
        };
        self.try_send(&request.body(body))?.json()
    }

    /// The whole answer, whatever it is, or why there is none.
    pub(crate) fn try_send(&mut self, request: &Request<'_>) -> Result<Answer, ClientError> {
        if self.is_verbose {
            self.printer.note(&format!("> {request}"));
        }
        let answer = self.client.send(request);
        if self.is_verbose {
            match &answer {
                Ok(answer) => {
                    self.printer.note(&format!("< {}, {} bytes", answer.status, answer.bytes.len()));
                }
                Err(error) => self.printer.note(&format!("< {error}")),
            }
        }
        answer
    }

    /// Shows a list of things.
    pub(crate) fn list(&mut self, columns: Columns<'_>, things: Vec<Json>) -> Outcome {
        if self.is_quiet && self.format == Format::Table {
            let ids: Vec<String> = things.iter().map(|thing| cell(&thing[id_key(thing)])).collect();
            return if ids.is_empty() { Ok(()) } else { Ok(self.printer.data(&ids.join("\n"))?) };
        }
        match self.format {
            Format::Table if things.is_empty() => {
                self.note("there are none");
                Ok(())
            }
            Format::Table => Ok(self.printer.page(&table::list(columns, &things))?),
            _ => self.data(&Json::Array(things)),
        }
    }

    /// Shows one thing; quietly its id alone.
    pub(crate) fn details(&mut self, columns: Columns<'_>, thing: &Json) -> Outcome {
        match self.format {
            Format::Table if self.is_quiet => Ok(self.printer.data(&cell(&thing[id_key(thing)]))?),
            Format::Table => Ok(self.printer.page(&table::details(columns, thing))?),
            _ => self.data(thing),
        }
    }

    /// Shows an answer as data: YAML where that is wanted, else JSON.
    pub(crate) fn data(&mut self, answer: &Json) -> Outcome {
        let text = match self.format {
            Format::Yaml => stoker_manifest::to_yaml(answer),
            Format::Table | Format::Json => format!("{answer:#}"),
        };
        Ok(self.printer.data(&text)?)
    }

    /// Says that something was made: its id on standard output, what it is beside it.
    pub(crate) fn made(&mut self, what: &str, thing: &Json) -> Outcome {
        if self.format != Format::Table {
            return self.data(thing);
        }
        let id = cell(&thing[id_key(thing)]);
        if self.is_quiet {
            Ok(self.printer.data(&id)?)
        } else {
            Ok(self.printer.page(&format!("{what} {id}"))?)
        }
    }

    /// A remark beside the answer.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.is_quiet {
            self.printer.note(text);
        }
    }
}

/// Asks, unless the answer was given on the line.
pub(crate) fn confirm(question: &str, is_given: bool) -> Outcome {
    if is_given || terminal::ask(question) {
        return Ok(());
    }
    let mut failure = Failure::failed("not confirmed, nothing was done");
    failure.diagnostics[0].help = Some("`--yes` confirms beforehand".to_owned());
    Err(failure)
}

/// What a thing is called by: most have an id, some only a name.
fn id_key(thing: &Json) -> &'static str {
    if thing["id"].is_null() { "name" } else { "id" }
}

//! What is done about a letter.

use std::sync::Arc;

use stoker_engine::run::InFlight;
use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{AttemptKey, FromAgent, Generation, ToAgent};
use stoker_model::RunId;
use stoker_wire::{Decoded, decode_from_agent, decode_to_agent, encode_to_agent};

use super::letter::Envelope;
use super::{ANSWERED_MAX, Answer, Letter, Question, Wish};
use crate::runs::{Command, Place, has_ended, keep_output, pass_on, settle_here};
use crate::state::App;

pub(super) async fn hear(app: &App, envelope: Envelope) {
    let from: Arc<str> = envelope.from.into();
    match envelope.letter {
        Letter::Dispatch { uid, key, generation, start } => {
            let key = AttemptKey::from(key);
            app.group.note_driver(key.run, &from);
            dispatch(app, &uid, key, Generation(generation), &start).await;
        }
        Letter::Claim { uid, run, generation, flights } => {
            let run = RunId(run);
            app.group.note_driver(run, &from);
            if app.agents.place(&uid) == Place::Here {
                let flights: Vec<InFlight> = flights.into_iter().map(InFlight::from).collect();
                let of_run = (run, Generation(generation));
                let outputs = app.agents.claim(&uid, of_run, &flights, app.clock.now());
                pass_on(app, &uid, outputs).await;
            }
        }
        Letter::ToAgent { uid, text } => to_agent(app, &uid, &text).await,
        Letter::Deliver { uid, key } => {
            let key = AttemptKey::from(key);
            to_run(app, &from, key.run, Command::Deliver { uid, key }).await;
        }
        Letter::FromAgent { uid, text } => from_agent(app, &from, uid, &text).await,
        Letter::NotMine { run } => {
            let run = RunId(run);
            if app.group.known_driver(run).is_some_and(|server| server == from) {
                app.group.forget_driver(run);
            }
        }
        Letter::Ask { id, run, what } => asked(app, from, id, RunId(run), what),
        Letter::Answer { id, answer } => {
            if let Some(asking) = app.group.asking().remove(&id) {
                // Whoever asked may have gone.
                _ = asking.send(answer);
            }
        }
        Letter::Settle { id, uid, text } => settle(app, from, id, uid, &text),
        Letter::ForgetTokens => app.tokens.forget(),
        Letter::CloseAgent { uid } => app.let_go(&uid),
        Letter::TakeUp => app.group.take_up.notify_one(),
        Letter::News { run } => app.news.tell(RunId(run)),
        Letter::Unknown => {}
    }
}

/// The attempt came with it: it need not be asked for.
async fn dispatch(app: &App, uid: &str, key: AttemptKey, generation: Generation, start: &str) {
    if app.agents.place(uid) != Place::Here {
        return;
    }
    let mut outputs = app.agents.step(uid, Input::Dispatch { key, generation }, app.clock.now());
    let wanted = Output::Deliver { key, generation };
    if outputs.contains(&wanted)
        && let Ok(Decoded::Message(message)) = decode_to_agent(start)
    {
        outputs.retain(|output| *output != wanted);
        app.agents.send(uid, message);
    }
    pass_on(app, uid, outputs).await;
}

async fn to_agent(app: &App, uid: &str, text: &str) {
    let message = match decode_to_agent(text) {
        Ok(Decoded::Message(message)) => message,
        Ok(Decoded::Unknown) => return,
        Err(error) => {
            tracing::warn!(%error, "a message for an agent makes no sense");
            return;
        }
    };
    if app.agents.place(uid) != Place::Here {
        return;
    }
    let input = match message {
        ToAgent::Cancel { key, generation, how } => Input::Cancel { key, generation, how },
        ToAgent::Acknowledge { keys } => Input::Recorded { keys },
        ToAgent::RunEnded { run } => {
            app.group.forget_driver(run);
            Input::RunIs { run, generation: None }
        }
        start @ ToAgent::Start(_) => return app.agents.send(uid, start),
        ToAgent::Welcome { .. } => return,
    };
    let outputs = app.agents.step(uid, input, app.clock.now());
    pass_on(app, uid, outputs).await;
}

async fn from_agent(app: &App, from: &Arc<str>, uid: String, text: &str) {
    let message = match decode_from_agent(text) {
        Ok(Decoded::Message(message)) => message,
        Ok(Decoded::Unknown) => return,
        Err(error) => {
            tracing::warn!(%error, "what an agent of another server said makes no sense");
            return;
        }
    };
    let (key, command) = match message {
        FromAgent::Started { key, at } => (key, Command::Started { key, at }),
        FromAgent::Finished(finished) => (finished.key, Command::Finished { uid: uid.clone(), finished }),
        FromAgent::Output { key, stream, offset, text } => {
            if app.agents.is_executor(&uid, key) == Some(true) {
                keep_output(app, key, stream, offset, text).await;
            }
            return;
        }
        FromAgent::Hello(_) | FromAgent::Heartbeat | FromAgent::Facts(_) => return,
    };
    if app.agents.is_executor(&uid, key) == Some(false) {
        tracing::warn!(agent.uid = uid, "an agent told of an attempt that is not its own");
        return;
    }
    let is_end = matches!(command, Command::Finished { .. });
    if !to_run(app, from, key.run, command).await && is_end && has_ended(app, key.run).await {
        let text = encode_to_agent(&ToAgent::Acknowledge { keys: vec![key] });
        app.group.post(from, &Letter::ToAgent { uid, text });
    }
}

/// Whether the run is carried out here; if not, whoever wrote looks for it elsewhere.
async fn to_run(app: &App, from: &Arc<str>, run: RunId, command: Command) -> bool {
    if let Some(inbox) = app.agents.run(run)
        && inbox.send(command).await.is_ok()
    {
        return true;
    }
    app.group.post(from, &Letter::NotMine { run: run.0 });
    false
}

/// A question that comes again is not put again; if it was answered, so is it.
fn asked(app: &App, from: Arc<str>, id: u64, run: RunId, what: Wish) {
    let question: Question = (from.to_string(), id);
    {
        let mut answered = app.group.answered();
        if let Some((_, answer)) = answered.iter().find(|(known, _)| *known == question) {
            if let Some(answer) = *answer {
                app.group.post(&from, &Letter::Answer { id, answer });
            }
            return;
        }
        if answered.len() >= ANSWERED_MAX {
            answered.pop_front();
        }
        answered.push_back((question.clone(), None));
    }
    let worker = app.clone();
    app.spawn(async move {
        let answer = Answer::of(worker.ask_here(run, what.input()).await);
        let mut answered = worker.group.answered();
        if let Some((_, known)) = answered.iter_mut().find(|(known, _)| *known == question) {
            *known = Some(answer);
        }
        drop(answered);
        worker.group.post(&from, &Letter::Answer { id, answer });
    });
}

/// An end that another server was given by whoever kept it; that server has made sure whose it is.
fn settle(app: &App, from: Arc<str>, id: u64, uid: String, text: &str) {
    let Ok(Decoded::Message(FromAgent::Finished(finished))) = decode_from_agent(text) else {
        tracing::warn!("an end that another server was given makes no sense");
        return;
    };
    let app = app.clone();
    app.clone().spawn(async move {
        let answer = Answer::from(settle_here(&app, &uid, finished).await);
        app.group.post(&from, &Letter::Answer { id, answer });
    });
}

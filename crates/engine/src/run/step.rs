//! One step: something happened, this is recorded and this has to be done.

use stoker_model::{JsonMap, Micros};

use super::apply::later;
use super::event::{AttemptEnd, Effect, Event, EventKind, Next, Outcome, Resolution};
use super::input::{Illegal, Input, StopHow};
use super::state::{Phase, Run, State, Timer};
use crate::blueprint::Blueprint;
use crate::session::{AttemptKey, CancelHow, End, Mode};

/// What a step decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// To be kept before anything is done about it.
    pub events: Vec<Event>,
    /// To be done after that.
    pub effects: Vec<Effect>,
}

/// What follows from an input. The state is changed by the events of the answer and in no other way; an input that is
/// refused changes nothing.
pub fn step(run: &mut Run, blueprint: &Blueprint, input: Input, now: Micros) -> Result<Step, Illegal> {
    let wake_before = run.wakes_at();
    let mut stepping = Stepping { run, blueprint, now, step: Step::default() };
    stepping.take(input)?;
    // The clock is looked at last: what has just arrived is not overdue.
    stepping.ring();
    stepping.settle();
    let Stepping { run, mut step, .. } = stepping;
    let wake = run.wakes_at();
    if let Some(at) = wake.filter(|_| wake != wake_before) {
        step.effects.push(Effect::WakeAt(at));
    }
    Ok(step)
}

pub(super) struct Stepping<'s> {
    pub(super) run: &'s mut Run,
    pub(super) blueprint: &'s Blueprint,
    now: Micros,
    step: Step,
}

impl Stepping<'_> {
    fn take(&mut self, input: Input) -> Result<(), Illegal> {
        match input {
            Input::Begin => match self.run.phase {
                Phase::Created => self.emit(EventKind::Began),
                _ => return Err(Illegal::AlreadyBegun),
            },
            Input::TakeOver => match self.run.phase {
                Phase::Created => return Err(Illegal::NotBegun),
                Phase::Ended(_) => {}
                Phase::Running | Phase::Paused | Phase::Stopping { .. } => self.emit(EventKind::TakenOver),
            },
            Input::AttemptStarted { key, at } => self.started(key, at)?,
            Input::AttemptFinished { key, at, end, summary } => self.finished(key, at, end, summary)?,
            Input::NodeLost { node } => self.connectivity(node, true)?,
            Input::NodeBack { node } => self.connectivity(node, false)?,
            Input::Stop { how } => self.stop(how)?,
            Input::Pause => match self.run.phase {
                // What comes after a run that is paused is paused from its beginning.
                Phase::Created => {
                    self.emit(EventKind::Began);
                    self.emit(EventKind::Paused);
                }
                Phase::Running => self.emit(EventKind::Paused),
                Phase::Paused => return Err(Illegal::AlreadyPaused),
                _ => return Err(self.not_running()),
            },
            Input::Resume => match self.run.phase {
                Phase::Paused => self.emit(EventKind::Resumed),
                Phase::Running => return Err(Illegal::NotPaused),
                _ => return Err(self.not_running()),
            },
            Input::Wake => {}
        }
        Ok(())
    }

    fn not_running(&self) -> Illegal {
        match self.run.phase {
            Phase::Created => Illegal::NotBegun,
            Phase::Ended(_) => Illegal::HasEnded,
            Phase::Running | Phase::Paused | Phase::Stopping { .. } => Illegal::AlreadyStopping,
        }
    }

    /// Whether an attempt is the one that is waited for.
    fn is_current(&self, key: AttemptKey) -> Result<bool, Illegal> {
        if key.run != self.run.id {
            return Err(Illegal::WrongRun);
        }
        let state = self.run.states.get(key.instance as usize).ok_or(Illegal::UnknownAttempt)?;
        let last = u32::from(self.run.attempts[key.instance as usize]);
        if key.attempt == 0 || key.attempt > last {
            return Err(Illegal::UnknownAttempt);
        }
        Ok(key.attempt == last && matches!(state, State::Dispatched | State::Started))
    }

    fn started(&mut self, key: AttemptKey, at: Micros) -> Result<(), Illegal> {
        if !self.is_current(key)? {
            // Nobody waits for it any more, so it should not go on.
            if self.run.unanswered.contains(&(key.instance, key.attempt)) {
                self.step.effects.push(Effect::Cancel { key, how: CancelHow::Now });
            }
        } else if self.run.states[key.instance as usize] == State::Dispatched {
            let AttemptKey { instance, attempt, .. } = key;
            self.emit(EventKind::Started { instance, attempt, began_at: at });
        }
        Ok(())
    }

    fn finished(&mut self, key: AttemptKey, at: Micros, end: End, summary: JsonMap) -> Result<(), Illegal> {
        let AttemptKey { instance, attempt, .. } = key;
        if self.is_current(key)? {
            self.attempt_ended(instance, at, AttemptEnd::Reported(end), summary);
        } else if self.run.unanswered.contains(&(instance, attempt)) {
            self.emit(EventKind::LateResult { instance, attempt, ended_at: at, end, summary });
        }
        Ok(())
    }

    fn attempt_ended(&mut self, instance: u32, ended_at: Micros, end: AttemptEnd, summary: JsonMap) {
        let attempt = u32::from(self.run.attempts[instance as usize]);
        let next = self.next(instance, attempt, &end);
        self.emit(EventKind::AttemptEnded { instance, attempt, ended_at, end, summary, next });
    }

    fn next(&self, instance: u32, attempt: u32, end: &AttemptEnd) -> Next {
        let policy = self.blueprint.policies[self.blueprint.instances[instance as usize].policy as usize];
        let is_stopping = matches!(self.run.phase, Phase::Stopping { .. });
        let n_attempts_more = match end {
            AttemptEnd::Reported(End::Succeeded) => return Next::Final(Outcome::Succeeded),
            AttemptEnd::Reported(End::Cancelled) if is_stopping => return Next::Final(Outcome::Cancelled),
            AttemptEnd::Reported(End::Cancelled) | AttemptEnd::Lost => 0,
            // Not the task's fault, so one more even for those that are never tried again.
            AttemptEnd::Reported(End::Interrupted) if policy.retry_interrupted => policy.n_retries.max(1),
            AttemptEnd::Reported(End::Interrupted) => 0,
            AttemptEnd::Reported(End::Failed { .. } | End::TimedOut | End::Refused { .. })
            | AttemptEnd::NoAnswer => policy.n_retries,
        };
        // Attempts are numbered in two bytes.
        if attempt <= n_attempts_more.min(u32::from(u16::MAX) - 1) && !is_stopping {
            let pause_ms = policy.pause_ms(attempt, self.blueprint.options.backoff_max_ms);
            return Next::Retry { at: later(self.now, pause_ms) };
        }
        Next::Final(if policy.fail_on_error { Outcome::Failed } else { Outcome::Ignored })
    }

    fn connectivity(&mut self, node: u32, is_lost: bool) -> Result<(), Illegal> {
        let state = self.run.nodes.get(node as usize).ok_or(Illegal::UnknownNode)?;
        let has_changed = !state.is_given_up && state.lost_since.is_some() != is_lost;
        if has_changed && !matches!(self.run.phase, Phase::Ended(_)) {
            self.emit(if is_lost { EventKind::NodeLost { node } } else { EventKind::NodeBack { node } });
        }
        Ok(())
    }

    fn stop(&mut self, how: StopHow) -> Result<(), Illegal> {
        match self.run.phase {
            Phase::Ended(_) => Err(Illegal::HasEnded),
            // Stopped in the queue: it begins and ends at once, so that everything of it has an end.
            Phase::Created => {
                self.emit(EventKind::Began);
                self.emit(EventKind::StopAsked { how });
                Ok(())
            }
            Phase::Stopping { how: StopHow::Now } => Err(Illegal::AlreadyStopping),
            Phase::Stopping { .. } if how == StopHow::Graceful => Err(Illegal::AlreadyStopping),
            Phase::Running | Phase::Paused | Phase::Stopping { .. } => {
                self.end_pause();
                self.emit(EventKind::StopAsked { how });
                Ok(())
            }
        }
    }

    /// What stops is not paused any more; nothing is begun in between.
    pub(super) fn end_pause(&mut self) {
        if self.run.phase == Phase::Paused {
            self.emit(EventKind::Resumed);
        }
    }

    /// Does what time has brought.
    fn ring(&mut self) {
        while let Some((at, timer)) = self.run.timers.first().copied() {
            if at > self.now || matches!(self.run.phase, Phase::Created) {
                return;
            }
            match timer {
                Timer::Flight(idx) if self.run.states[idx as usize] == State::Pausing => {
                    self.emit(EventKind::RetryDue { instance: idx });
                }
                Timer::Flight(idx) => self.give_up_attempt(idx, AttemptEnd::NoAnswer),
                Timer::Node(node) => self.give_up(node),
            }
        }
    }

    fn give_up(&mut self, node: u32) {
        self.emit(EventKind::NodeGivenUp { node });
        let flights = self.run.nodes[node as usize].flights.iter().copied();
        let asked = flights.filter(|idx| self.run.states[*idx as usize] != State::Pausing);
        for idx in asked.collect::<Vec<_>>() {
            self.give_up_attempt(idx, AttemptEnd::Lost);
        }
    }

    /// Nobody waits for an attempt any more. Its agent must not go on with it, nor begin it when it comes back.
    fn give_up_attempt(&mut self, idx: u32, end: AttemptEnd) {
        let key = self.run.key(idx);
        self.attempt_ended(idx, self.now, end, JsonMap::new());
        self.step.effects.push(Effect::Cancel { key, how: CancelHow::Now });
    }

    /// Records what was decided.
    pub(super) fn emit(&mut self, kind: EventKind) {
        let event = Event { at: self.now, kind };
        self.run.apply(self.blueprint, &event);
        self.follow(&event.kind);
        self.step.events.push(event);
    }

    /// Records how an instance ended without being carried out; one event for as many as there are in a row.
    pub(super) fn resolve(&mut self, idx: u32, resolution: Resolution) {
        self.run.resolved(self.blueprint, idx, resolution);
        if let Some(Event { kind: EventKind::Resolved { ends }, .. }) = self.step.events.last_mut() {
            ends.push((idx, resolution));
        } else {
            let kind = EventKind::Resolved { ends: vec![(idx, resolution)] };
            self.step.events.push(Event { at: self.now, kind });
        }
    }

    /// What has to be done because of an event.
    fn follow(&mut self, kind: &EventKind) {
        let effects = &mut self.step.effects;
        match kind {
            EventKind::Dispatched { instance, .. } => effects.push(Effect::Dispatch(self.run.key(*instance))),
            EventKind::AttemptEnded { instance, next: Next::Final(Outcome::Succeeded), .. }
                if self.blueprint.options.mode == Mode::Normal =>
            {
                effects.push(Effect::Succeeded { instance: *instance });
            }
            EventKind::NodeEnded { node, end } => {
                effects.push(Effect::NodeEnded { node: *node, end: *end });
            }
            EventKind::StopAsked { .. } | EventKind::ToleranceExceeded { .. } => {
                effects.extend(self.run.cancels());
            }
            EventKind::Ended { end } => effects.push(Effect::RunEnded(end.clone())),
            _ => {}
        }
    }
}

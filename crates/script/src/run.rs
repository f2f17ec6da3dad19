//! Runs a script in virtual time: its statements in order, with the endpoint's actions between them.

use crate::error::ScriptError;
use crate::options::Options;
use crate::peer::{Decoded, Injected, Peer, Sent, Values};
use crate::report::{Failure, Row, moment};
use crate::shape::fields_fit;
use crate::subject::Subject;
use crate::syntax::{Action, FieldValue, Item, Packet, Script, Statement, When};
use crate::value::{Pattern, Value, Variables};
use std::collections::VecDeque;
use units::Time;

/// The limit on datagrams at one instant and on consecutive timers; an endpoint beyond it never comes to rest.
const MOST_AT_ONCE: usize = 100_000;

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The script holds.
    Passed {
        /// The number of statements executed: all of them.
        statements: usize,
        /// How many packets were compared.
        packets: usize,
    },
    /// The script does not hold.
    Failed(Box<Failure>),
}

/// A difference: its line and reason.
struct Difference {
    line: usize,
    reason: String,
    real: String,
}

/// A running script.
pub(crate) struct Run<'a> {
    script: &'a Script,
    pub(crate) options: Options,
    pub(crate) subject: Subject,
    pub(crate) peer: Peer,
    pub(crate) now: Time,
    /// The origin of absolute times.
    origin: Time,
    /// The time of the previous statement.
    last: Time,
    /// Datagrams sent by the endpoint and not compared yet.
    pub(crate) seen: VecDeque<(Time, Vec<Decoded>)>,
    variables: Variables,
    packets: usize,
    rows: Vec<Row>,
}

impl Script {
    /// Runs the script. Equal scripts have equal verdicts.
    ///
    /// # Errors
    /// If an option is invalid, or injected data cannot be encoded.
    pub fn run(&self) -> Result<Verdict, ScriptError> {
        let mut options = Options::read(self)?;
        options.tls.protection = tls::Protection::Null;
        let context = tls::Context::new(&options.tls, &[b"script"], options.seed);
        let context = context.map_err(|error| self.mistake(1, 1, &error.to_string()))?;
        let mut run = Run {
            script: self,
            subject: Subject::new(&options, context.clone()),
            peer: Peer::new(&options, context),
            options,
            now: Time::ZERO,
            origin: Time::ZERO,
            last: Time::ZERO,
            seen: VecDeque::new(),
            variables: Variables::new(),
            packets: 0,
            rows: Vec::new(),
        };
        run.all()
    }

    fn mistake(&self, line: usize, column: usize, problem: &str) -> ScriptError {
        ScriptError { origin: self.origin.clone(), line, column, problem: problem.to_owned() }
    }

    /// A line without its comment.
    fn text(&self, line: usize) -> String {
        let text = self.lines.get(line.saturating_sub(1)).map_or("", String::as_str);
        text.split("//").next().unwrap_or_default().trim().to_owned()
    }
}

/// Why a run stops: a difference, or a mistake in the script.
enum Stop {
    Difference(Difference),
    Mistake(ScriptError),
}

impl From<Difference> for Stop {
    fn from(difference: Difference) -> Stop {
        Stop::Difference(difference)
    }
}

impl Run<'_> {
    fn all(&mut self) -> Result<Verdict, ScriptError> {
        let script = self.script;
        for (index, statement) in script.statements.iter().enumerate() {
            match self.statement(statement) {
                Ok(()) => {}
                Err(Stop::Mistake(error)) => return Err(error),
                Err(Stop::Difference(difference)) => return Ok(self.failed(difference, index + 1)),
            }
        }
        self.drain();
        let line = script.lines.len();
        if let Err(difference) = self.nothing_left(line) {
            return Ok(self.failed(difference, script.statements.len()));
        }
        Ok(Verdict::Passed { statements: script.statements.len(), packets: self.packets })
    }

    /// Reports a difference; `next` is the index of the first statement that was not started.
    fn failed(&mut self, difference: Difference, next: usize) -> Verdict {
        self.drain();
        let coming = self.script.statements[next..].iter().filter_map(|statement| match &statement.action {
            Action::Expect(packets) => Some(packets.iter().map(|packet| packet.line)),
            _ => None,
        });
        let mut coming = coming.flatten();
        let mut behind = Vec::new();
        let seen = self.seen.iter().flat_map(|(at, packets)| packets.iter().map(move |packet| (*at, packet)));
        for (at, packet) in seen {
            let line = coming.next();
            let expected = line.map_or(String::new(), |line| self.script.text(line));
            behind.push(Row { line, expected, real: self.shown(at, packet) });
        }
        behind.extend(coming.map(|line| Row {
            line: Some(line),
            expected: self.script.text(line),
            real: String::new(),
        }));
        let Difference { line, reason, real } = difference;
        Verdict::Failed(Box::new(Failure {
            origin: self.script.origin.clone(),
            line,
            at: moment(self.now, self.origin),
            reason,
            before: std::mem::take(&mut self.rows),
            difference: Row { line: Some(line), expected: self.script.text(line), real },
            behind,
        }))
    }

    fn shown(&self, at: Time, packet: &Decoded) -> String {
        let arrow = if packet.is_coalesced { "&" } else { ">" };
        format!("{} {arrow} {packet}", moment(at, self.origin))
    }

    fn row(&mut self, line: usize, real: String) {
        self.rows.push(Row { line: Some(line), expected: self.script.text(line), real });
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Stop> {
        if let Action::Expect(packets) = &statement.action {
            return Ok(self.expect(packets, statement.when)?);
        }
        let at = self.base(statement.when) + statement.when.from;
        if at < self.now {
            let reason = format!("this was due at {}, but that time has passed", moment(at, self.origin));
            return Err(self.difference(statement.line, reason).into());
        }
        if at > self.now {
            self.advance(at);
            self.nothing_left(statement.line)?;
        }
        self.last = at;
        let line = statement.line;
        match &statement.action {
            Action::Expect(_) => {}
            Action::Silence => {
                self.drain();
                self.nothing_left(line)?;
                self.row(line, format!("{} nothing", moment(self.now, self.origin)));
            }
            Action::Handshake { rtt } => {
                self.drain();
                self.nothing_left(line)?;
                let done = self.handshake(*rtt);
                done.map_err(|reason| self.difference(line, reason))?;
                (self.origin, self.last) = (self.now, self.now);
                self.subject.events.clear();
                self.row(line, "the handshake is complete".to_owned());
            }
            Action::Inject(packets) => {
                let injected = self.inject(packets).map_err(|(packet, problem)| {
                    Stop::Mistake(self.script.mistake(packet.line, packet.column, &problem))
                })?;
                for (packet, shown) in packets.iter().zip(injected.shown) {
                    self.row(packet.line, format!("{} < {shown}", moment(self.now, self.origin)));
                }
            }
            Action::Call { entry, arguments, result } => {
                let values = Values::of(arguments, &self.variables).map_err(|problem| {
                    Stop::Mistake(self.script.mistake(line, statement.column, &problem))
                })?;
                let found = self.subject.call(self.now, entry.name, &values);
                self.called(line, found, result.as_ref())?;
            }
            Action::Event(item) => self.event(line, item)?,
            Action::Check(given) => self.check(line, given)?,
            Action::Let { name, value } => {
                let value = value.value(&self.variables).ok_or_else(|| {
                    Stop::Mistake(self.script.mistake(
                        line,
                        statement.column,
                        "the terms have different types",
                    ))
                })?;
                self.variables.insert(name.clone(), value);
            }
        }
        Ok(())
    }

    /// The origin of a statement's time.
    fn base(&self, when: When) -> Time {
        if when.absolute { self.origin } else { self.last }
    }

    fn difference(&self, line: usize, reason: String) -> Difference {
        let real = self.seen.front().and_then(|(at, packets)| Some(self.shown(*at, packets.first()?)));
        Difference { line, reason, real: real.unwrap_or_default() }
    }

    /// Requires that no unexpected datagram was sent.
    fn nothing_left(&mut self, line: usize) -> Result<(), Difference> {
        let Some((at, packets)) = self.seen.pop_front() else { return Ok(()) };
        let real = packets.first().map(|packet| self.shown(at, packet)).unwrap_or_default();
        let reason = format!("no line expects this packet: {real}");
        Err(Difference { line, reason, real })
    }

    /// Collects the datagrams that the endpoint sends now.
    pub(crate) fn drain(&mut self) {
        for left in self.subject.drain(self.now, MOST_AT_ONCE) {
            let sent = Sent { bytes: &left.bytes, ecn: left.ecn, from: left.from, to: left.to };
            let packets = self.peer.decode(&sent);
            self.seen.push_back((self.now, packets));
        }
    }

    /// Fires the endpoint's next timer, if it is due by `limit`.
    fn step(&mut self, limit: Time) -> bool {
        match self.subject.wake_at().map(|at| at.max(self.now)) {
            Some(at) if at <= limit => {
                self.now = at;
                self.subject.wake(at);
                self.drain();
                true
            }
            _ => false,
        }
    }

    /// Advances the time.
    pub(crate) fn advance(&mut self, to: Time) {
        self.drain();
        for _ in 0..MOST_AT_ONCE {
            if !self.step(to) {
                break;
            }
        }
        self.now = self.now.max(to);
    }

    pub(crate) fn inject<'p>(&mut self, packets: &'p [Packet]) -> Result<Injected, (&'p Packet, String)> {
        let mut injected = self.peer.inject(packets, &self.variables)?;
        match (self.subject.receive(self.now, &mut injected), packets.first()) {
            (Err(problem), Some(packet)) => Err((packet, problem)),
            _ => Ok(injected),
        }
    }

    fn called(
        &mut self,
        line: usize,
        found: Result<u64, &'static str>,
        expected: Option<&Pattern>,
    ) -> Result<(), Difference> {
        let value = found.map_or_else(Value::Word, Value::Int);
        let real = format!("{} = {value}", moment(self.now, self.origin));
        let fits = match expected {
            Some(pattern) => pattern.matches(&value, &mut self.variables),
            None => found.is_ok(),
        };
        if !fits {
            return Err(Difference { line, reason: format!("the call returned {value}"), real });
        }
        self.row(line, real);
        Ok(())
    }

    /// Requires this event, unless an earlier line has consumed it.
    fn event(&mut self, line: usize, item: &Item) -> Result<(), Difference> {
        self.drain();
        let variables = &mut self.variables;
        let at = self.subject.events.iter().position(|event| event.fits(item, variables));
        if let Some(at) = at {
            let event = self.subject.events.remove(at);
            self.row(line, format!("{} event {event}", moment(self.now, self.origin)));
            return Ok(());
        }
        let told: Vec<String> = self.subject.events.iter().map(ToString::to_string).collect();
        let told = if told.is_empty() { "none".to_owned() } else { told.join(", ") };
        let reason = format!("the connection has not reported {}", item.entry.name);
        Err(Difference { line, reason, real: format!("events: {told}") })
    }

    fn check(&mut self, line: usize, given: &[FieldValue]) -> Result<(), Difference> {
        self.drain();
        let mut shown = Vec::new();
        for one in given {
            let found = self.subject.gauge(one.field.name);
            let fits = found.as_ref().is_some_and(|value| one.pattern.matches(value, &mut self.variables));
            let value =
                found.map_or("not there: the connection is gone".to_owned(), |value| value.to_string());
            shown.push(format!("{} {value}", one.field.name));
            if !fits {
                let reason = format!("{} is {value}", one.field.name);
                return Err(Difference { line, reason, real: shown.join(", ") });
            }
        }
        self.row(line, shown.join(", "));
        Ok(())
    }

    /// Requires that the endpoint's next datagram is this one.
    fn expect(&mut self, expected: &[Packet], when: When) -> Result<(), Difference> {
        let Some(first) = expected.first() else { return Ok(()) };
        let base = self.base(when);
        let spare = if when.has_range { units::Duration::ZERO } else { self.options.tolerance };
        let (from, to) = (base + when.from - spare, base + when.to + spare);
        self.drain();
        for _ in 0..MOST_AT_ONCE {
            if !self.seen.is_empty() || !self.step(to) {
                break;
            }
        }
        let window = || format!("between {} and {}", moment(from, self.origin), moment(to, self.origin));
        let Some((at, packets)) = self.seen.pop_front() else {
            self.now = self.now.max(to);
            let reason = format!("nothing was sent {}", window());
            let real = match self.subject.wake_at() {
                Some(at) => format!("nothing; its next timer is due {}", moment(at, self.origin)),
                None => "nothing; no timer runs".to_owned(),
            };
            return Err(Difference { line: first.line, reason, real });
        };
        let real = packets.first().map(|packet| self.shown(at, packet)).unwrap_or_default();
        if at < from || at > to {
            let reason = format!("sent {}, expected {}", moment(at, self.origin), window());
            return Err(Difference { line: first.line, reason, real });
        }
        self.last = at;
        for (index, packet) in expected.iter().enumerate() {
            let Some(found) = packets.get(index) else {
                let reason = "the datagram has no further packet".to_owned();
                return Err(Difference { line: packet.line, reason, real: String::new() });
            };
            let real = self.shown(at, found);
            compare(packet, found, &mut self.variables).map_err(|reason| Difference {
                line: packet.line,
                reason,
                real: real.clone(),
            })?;
            self.packets += 1;
            self.row(packet.line, real);
            let lost = packet.header.iter().any(|given| given.field.name == "lost");
            if !lost {
                self.peer.hear(at, found);
            }
        }
        if let Some(more) = packets.get(expected.len()) {
            let reason = "the datagram has a further packet; a line with & would expect it".to_owned();
            let line = expected.last().map_or(first.line, |packet| packet.line);
            return Err(Difference { line, reason, real: self.shown(at, more) });
        }
        Ok(())
    }
}

/// Checks a packet against its pattern.
///
/// # Errors
/// The reason why it does not match.
fn compare(expected: &Packet, found: &Decoded, variables: &mut Variables) -> Result<(), String> {
    if expected.kind != found.kind_name() {
        return Err(format!("the packet is {}, not {}", found.kind_name(), expected.kind));
    }
    let number = found.number.map(Value::Int);
    if expected.number != Pattern::Any
        && !number.as_ref().is_some_and(|number| expected.number.matches(number, variables))
    {
        let number = number.map_or("absent".to_owned(), |number| number.to_string());
        return Err(format!("the packet number is {number}"));
    }
    for given in &expected.header {
        if !fields_fit(std::slice::from_ref(given), &|name| found.header(name), variables) {
            let value = found.header(given.field.name).map_or("absent".to_owned(), |value| value.to_string());
            return Err(format!("{} of the packet is {value}", given.field.name));
        }
    }
    let mut open: Vec<_> = found.frames.iter().collect();
    for item in &expected.frames {
        let Some(at) = open.iter().position(|frame| frame.fits(item, variables)) else {
            let like = open.iter().find(|frame| std::ptr::eq(frame.entry, item.entry));
            return Err(match like {
                Some(like) => {
                    format!("no frame is the expected {}; the packet has {like}", item.entry.name)
                }
                None => format!("the packet has no frame {}", item.entry.name),
            });
        };
        open.remove(at);
    }
    // PADDING carries no information and is compared only if named.
    let more = open.iter().find(|frame| frame.entry.name != "PADDING");
    match more.filter(|_| !expected.others) {
        Some(frame) => Err(format!("the packet has an unexpected frame: {frame}")),
        None => Ok(()),
    }
}

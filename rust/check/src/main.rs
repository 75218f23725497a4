//! luau-check [--memory BYTES] [--flags]: type-checks Luau for a parent process, over standard input and output.
//!
//! The parent bounds what it sends and how long it waits; this process bounds its memory and each request's time, and
//! ends when its input does. Its answers have no order but that of the requests.
mod limits;
mod native;
mod wire;

use limits::Watchdog;
use native::{Definitions, Status};
use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::time::Duration;
use wire::{Answer, Finding, Hello, Module, PROTOCOL, Question, Request, Wanted};

/// The most that one line may hold.
const LONGEST: u64 = 64 << 20;
/// Types nest; so do the functions that walk over them.
const STACK: usize = 64 << 20;

/// A set of definitions and the version of the modules that it has read.
struct Set {
    definitions: Definitions,
    modules: String,
}

fn main() {
    let mut memory = u64::MAX;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--memory", Some(bytes)) => memory = bytes.parse().unwrap_or_else(|_| usage()),
            ("--flags", None) => return print_flags(),
            _ => usage(),
        }
    }
    limits::one_heap();
    let dog = Watchdog::start();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        limits::apply(memory);
        native::start();
        serve(&dog)
    });
    let done = worker.expect("a thread").join();
    if let Ok(Err(error)) = done {
        eprintln!("luau-check: {error}");
        std::process::exit(1);
    }
}

fn usage() -> ! {
    eprintln!("usage: luau-check [--memory BYTES] [--flags]");
    std::process::exit(2)
}

fn print_flags() {
    native::start();
    for flag in native::flags() {
        println!("{} {} {}", flag.kind, flag.name, flag.message);
    }
}

fn serve(dog: &Watchdog) -> std::io::Result<()> {
    let mut pipes = Pipes { input: std::io::stdin().lock(), output: std::io::stdout().lock() };
    let mut sets = HashMap::new();
    pipes.write(&Hello { luau_check: env!("CARGO_PKG_VERSION"), protocol: PROTOCOL })?;
    while let Some(line) = pipes.read()? {
        let request = serde_json::from_slice(&line).map_err(std::io::Error::other)?;
        let answer = answer(request, &mut sets, &mut pipes, dog);
        pipes.write(&answer)?;
    }
    Ok(())
}

fn answer(request: Request, sets: &mut HashMap<String, Set>, pipes: &mut Pipes, dog: &Watchdog) -> Answer {
    match request {
        Request::Load { id, definitions, text, seconds } => {
            sets.remove(&definitions);
            match dog.within(limit(seconds), || Definitions::load(&text)) {
                Err(findings) => Answer { id, failed: Some("definitions"), findings },
                Ok(loaded) => {
                    sets.insert(definitions, Set { definitions: loaded, modules: String::new() });
                    Answer { id, failed: None, findings: Vec::new() }
                }
            }
        }
        Request::Drop { id, definitions } => {
            sets.remove(&definitions);
            Answer { id, failed: None, findings: Vec::new() }
        }
        Request::Check { id, definitions, module, source, strict, seconds, modules } => {
            let Some(set) = sets.get_mut(&definitions) else {
                return Answer { id, failed: Some("unknown_definitions"), findings: Vec::new() };
            };
            if modules.is_empty() || modules != set.modules {
                set.definitions.forget();
                set.modules = modules;
            }
            // Luau's own limit comes first: the sets stay.
            let (status, findings) = dog.within(limit(seconds) * 2, || {
                set.definitions.check(&module, &source, strict, seconds, &mut |from, name| pipes.ask(from, name))
            });
            done(id, status, findings)
        }
    }
}

fn limit(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(10))
}

fn done(id: u64, status: Status, findings: Vec<Finding>) -> Answer {
    match status {
        Status::Done => Answer { id, failed: None, findings },
        Status::Timeout => Answer { id, failed: Some("timeout"), findings: Vec::new() },
        Status::Failed => Answer { id, failed: Some("internal"), findings },
    }
}

struct Pipes {
    input: std::io::StdinLock<'static>,
    output: std::io::StdoutLock<'static>,
}

impl Pipes {
    fn write(&mut self, value: &impl serde::Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(value).map_err(std::io::Error::other)?;
        line.push(b'\n');
        self.output.write_all(&line)?;
        self.output.flush()
    }

    /// The next line; none at the end of the input.
    fn read(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.input).take(LONGEST).read_until(b'\n', &mut line)?;
        match line.last() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(line)),
            Some(_) if line.len() as u64 == LONGEST => Err(std::io::Error::other("a line is too long")),
            Some(_) => Ok(None), // the parent ended in the middle of it
        }
    }

    fn ask(&mut self, from: &str, name: &str) -> Result<(String, String), String> {
        let asked = self.write(&Question { ask: Wanted { from, name } }).and_then(|()| self.read());
        match asked {
            Ok(Some(line)) => match serde_json::from_slice(&line) {
                Ok(Module::Found { module, source }) => Ok((module, source)),
                Ok(Module::Missing(reason)) => Err(reason),
                Err(error) => Err(error.to_string()),
            },
            _ => std::process::exit(0), // nobody waits any more
        }
    }
}

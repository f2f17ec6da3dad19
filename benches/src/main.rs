//! Speed and memory of quiclab, measured beside quinn-proto: `make bench`. docs/performance.md describes what
//! is measured and how.

mod case;
mod cases;
mod clock;
mod heap;
mod quiclab;
mod quinn;
mod report;
mod rounds;
mod star;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use units::Duration;

// Only its feature is needed: it removes quinn-proto's trace points at compile time, as a fair measurement
// requires.
use tracing as _;

const USAGE: &str =
    "usage: bench [--rounds N] [--only TEXT] [--flow-time TIME] [--json FILE] [--document FILE]
       bench --once CASE
  --rounds N       how often each case is measured, 7 if not given
  --only TEXT      only the cases with TEXT in their name
  --flow-time TIME how long the runs of many flows simulate, 2 s if not given: less where they are counted
  --json FILE      where the rows {case, value, unit} are written, target/bench.json if not given
  --document FILE  a Markdown file whose results are replaced: with --only, those of these cases
  --once CASE      runs quinn-null or quinn-tls once and nothing else, to measure the whole process";

/// The options on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    rounds: usize,
    only: String,
    flow_time: Duration,
    json: PathBuf,
    document: Option<PathBuf>,
    once: Option<String>,
}

fn main() -> ExitCode {
    match asked(std::env::args().skip(1)).and_then(|asked| run(&asked)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked {
        rounds: 7,
        only: String::new(),
        flow_time: Duration::from_secs(2),
        json: PathBuf::from("target/bench.json"),
        document: None,
        once: None,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--rounds" => {
                let text = value()?;
                asked.rounds =
                    text.parse().ok().filter(|&rounds| (1..=1000).contains(&rounds)).ok_or_else(|| {
                        format!("--rounds {text}: a whole number from 1 to 1000 is wanted\n{USAGE}")
                    })?;
            }
            "--only" => asked.only = value()?,
            "--flow-time" => {
                let text = value()?;
                asked.flow_time = text
                    .parse::<Duration>()
                    .map_err(|error| format!("--flow-time {text}: {error}\n{USAGE}"))?;
            }
            "--json" => asked.json = value()?.into(),
            "--document" => asked.document = Some(value()?.into()),
            "--once" => asked.once = Some(value()?),
            _ => return Err(format!("{argument} is unknown\n{USAGE}")),
        }
    }
    Ok(asked)
}

fn run(asked: &Asked) -> Result<(), String> {
    if let Some(name) = &asked.once {
        let mut case = cases::alone(name).ok_or_else(|| format!("no case {name:?} runs alone\n{USAGE}"))?;
        println!("{name} {:.0} {}", case.run(), case.unit());
        return Ok(());
    }
    let mut cases = cases::all(asked.flow_time);
    let names: Vec<&str> =
        cases.iter().map(|case| case.name()).chain(cases::RATIOS.iter().map(|ratio| ratio.name)).collect();
    cases.retain(|case| case.name().contains(&asked.only));
    if cases.is_empty() {
        return Err(format!("no case has {:?} in its name", asked.only));
    }
    let rows = rounds::measure(&mut cases, cases::RATIOS, asked.rounds, &mut |round, case, value| {
        eprintln!("round {round} of {}: {case} {value:.1}", asked.rounds);
    });
    let results = report::markdown(&rows, asked.rounds, &machine());
    println!("{results}");
    write(&asked.json, &report::json(&rows))?;
    if let Some(path) = &asked.document {
        let problem = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
        let results = match asked.only.as_str() {
            "" => results,
            _ => report::merge(&text, &results, &names).map_err(problem)?,
        };
        write(path, &report::replace(&text, &results).map_err(problem)?)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}

/// The name of the processor according to Linux.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("an unknown processor", |(_, name)| name.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Asked, String> {
        asked(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_command_line_is_read() {
        assert_eq!(of("").unwrap().rounds, 7);
        let asked = of("--rounds 3 --only null --json a.json --document b.md").unwrap();
        assert_eq!((asked.rounds, asked.only.as_str()), (3, "null"));
        assert_eq!(asked.flow_time, Duration::from_secs(2));
        assert_eq!(of("--flow-time 300ms").unwrap().flow_time, Duration::from_millis(300));
        assert_eq!((asked.json, asked.document), ("a.json".into(), Some("b.md".into())));
        assert_eq!(of("--once quinn-null").unwrap().once.as_deref(), Some("quinn-null"));
    }

    #[test]
    fn mistakes_on_the_command_line_are_reported() {
        for (line, says) in [
            ("--rounds 0", "1 to 1000"),
            ("--rounds", "needs a value"),
            ("--flow-time 3", "unit"),
            ("--fast", "unknown"),
        ] {
            assert!(of(line).unwrap_err().contains(says), "{line}");
        }
        assert!(run(&of("--once sweep").unwrap()).unwrap_err().contains("no case \"sweep\" runs alone"));
    }
}

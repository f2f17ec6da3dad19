//! The memory of runs without tables, and of sweeps, does not depend on their lengths.

mod own_folder;

use lab::sweep::{self, Sweep};
use lab::{Options, Prepared, Scenario, run_prepared};
use own_folder::own_folder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator, with counters.
struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);

fn grown(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    let live = LIVE.fetch_add(bytes as u64, Relaxed) + bytes as u64;
    MOST.fetch_max(live, Relaxed);
}

#[allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one calls that of the system")]
// SAFETY: every call goes unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size);
        LIVE.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocator calls, maximum live bytes, and sent packets of a run with this duration.
fn cost(text: &str, seconds: u64, protection: &str) -> (u64, u64, u64) {
    let sets = [format!("duration={seconds} s"), format!("tls.protection={protection}")];
    let scenario =
        Scenario::parse(text, Path::new("memory.toml"), &sets).unwrap_or_else(|error| panic!("{error}"));
    let prepared = Prepared::new(&scenario).unwrap();
    let (calls, live) = (CALLS.load(Relaxed), LIVE.load(Relaxed));
    MOST.store(live, Relaxed);
    let outcome =
        run_prepared(&scenario, &prepared, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let (calls, most) = (CALLS.load(Relaxed) - calls, MOST.load(Relaxed) - live);
    let summary: serde_json::Value = serde_json::from_str(&outcome.summary).unwrap();
    let packets = |entry: &serde_json::Value| entry["packets_sent"].as_u64().unwrap();
    (calls, most, summary["connections"].as_array().unwrap().iter().map(packets).sum())
}

/// Three endless transfers in both directions over a link with losses and reordering.
const ENDLESS: &str = r#"
[[link]]
name = "cell"
from = "server"
to = "client"
both = { rate = "20 Mbit/s", delay = "10 ms", queue = "1 BDP", loss = "0.1 %", jitter = "1 ms", duplicate = "0.1 %" }
[[flow]]
name = "one"
client = "client"
server = "server"
application = "bulk"
[[flow]]
name = "many"
client = "client"
server = "server"
application = { type = "bulk", streams = 20 }
[[flow]]
name = "up"
client = "client"
server = "server"
application = { type = "bulk", direction = "upload" }
"#;

/// The maximum live bytes of a sweep with this number of runs whose tables are read in pieces, and the bytes of its series.
fn cost_of_sweep(repetitions: u64) -> (u64, u64) {
    let text = format!(
        "duration = '2 s'\n{ENDLESS}\n[sweep]\nrepetitions = {repetitions}\nseries = ['connection', 'queue']\n"
    );
    let sweep = Sweep::parse(&text, Path::new("memory.toml"), &[]).unwrap_or_else(|error| panic!("{error}"));
    let folder = own_folder().join(format!("memory-{repetitions}"));
    let _ = std::fs::remove_dir_all(&folder);
    let live = LIVE.load(Relaxed);
    MOST.store(live, Relaxed);
    let mut finished = sweep::run(&sweep, &folder, 2, &mut |_| ControlFlow::Continue(())).unwrap();
    let (mut number, mut points) = (0, 0);
    while number < sweep.runs() {
        finished.runs(number, 1).unwrap();
        let (table, next) = finished.series(number, 1).unwrap();
        points += table.rows() as u64;
        number = next;
    }
    (MOST.load(Relaxed) - live, 16 * points)
}

fn a_sweep_does_not_grow_with_its_series() {
    let (short, short_series) = cost_of_sweep(20);
    let (long, long_series) = cost_of_sweep(100);
    let what = format!("{short} bytes of {short_series} of series, {long} of {long_series}");
    assert!(long_series > 4 * short_series, "{what}");
    // The number of waiting runs depends on the machine, up to sixteen; each waits with at most its series.
    assert!(long < short + 16 * (long_series / 100), "{what}");
    assert!(long < long_series / 3, "{what}");
}

/// A single test, so that no other one allocates at the same time.
#[test]
fn memory_is_bounded() {
    a_run_without_tables_does_not_grow_with_its_length();
    a_sweep_does_not_grow_with_its_series();
}

fn a_run_without_tables_does_not_grow_with_its_length() {
    for protection in ["null", "tls"] {
        // What the first run makes for all others counts for none.
        cost(ENDLESS, 1, protection);
        let (short_calls, short_most, short_packets) = cost(ENDLESS, 10, protection);
        let (long_calls, long_most, long_packets) = cost(ENDLESS, 100, protection);
        assert!(long_packets > 9 * short_packets, "{long_packets} {short_packets}");
        let what = format!(
            "{protection}: {short_calls} calls and {short_most} bytes in 10 s, {long_calls} calls and {long_most} bytes \
             in 100 s, {} packets more",
            long_packets - short_packets
        );
        // Rare events may double buffers, but a byte per packet would be ten times as much.
        assert!(long_most < short_most + short_most / 4 + 65_536, "{what}");
        // Once warm, a run allocates nothing per packet: less than one call in a thousand packets.
        assert!((long_calls - short_calls) * 1000 < long_packets - short_packets, "{what}");
    }
}

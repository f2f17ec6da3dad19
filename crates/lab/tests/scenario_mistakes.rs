//! Mistakes in scenarios, each with its error.

mod own_folder;

use lab::scenario::{Scenario, rooms};
use own_folder::own_folder;
use std::fs;
use std::path::Path;

/// A scenario without mistakes.
const GOOD: &str = r#"seed = 1
duration = "10 s"

[[link]]
name = "cell"
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "20 ms"

[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 MB" }
"#;

/// A change of the good scenario, and its error. Words in braces stand for lists of rows or options.
struct Mistake {
    /// The text to replace.
    old: &'static str,
    /// The replacement.
    new: &'static str,
    /// The error.
    line: &'static str,
}

const fn mistake(old: &'static str, new: &'static str, line: &'static str) -> Mistake {
    Mistake { old, new, line }
}

const MISTAKES: &[Mistake] = &[
    // Cross traffic, and traffic that ends.
    mistake(
        "[[flow]]",
        "[[cross_traffic]]\nname = \"udp\"\nfrom = \"client\"\nto = \"client\"\nsource = { type = \"constant\", gap = \"1 ms\" }\n\n[[flow]]",
        r#"a.toml:14:6: cross_traffic.udp.to: from and to are one node, found "client"; expected another node"#,
    ),
    mistake(
        "[[flow]]",
        "[[cross_traffic]]\nname = \"udp\"\nfrom = \"client\"\nto = \"server\"\nsource = { type = \"constant\", gap = \"0 ms\" }\n\n[[flow]]",
        r#"a.toml:15:37: cross_traffic.udp.source.gap: 0 s; expected a time above zero"#,
    ),
    mistake(
        "[[flow]]",
        "[[cross_traffic]]\nname = \"udp\"\nfrom = \"client\"\nto = \"server\"\nsource = { type = \"uniform\", smallest = 9, largest = 8, shortest = \"1 ms\", longest = \"1 ms\" }\n\n[[flow]]",
        r#"a.toml:15:54: cross_traffic.udp.source.largest: 8 is below smallest; expected 9 or more"#,
    ),
    mistake(
        "server = \"server\"\n",
        "server = \"server\"\nstart = \"2 s\"\nstop = \"2 s\"\n",
        r#"a.toml:16:8: flow.get.stop: too early, found "2 s"; expected a time after its start (2 s)"#,
    ),
    // What hosts know of paths.
    mistake(
        "[[flow]]",
        "[[memory]]\nname = \"a\"\nnode = \"server\"\npeer = \"client\"\ncapacity = \"0 B\"\nrtt = \"1 ms\"\n\n[[flow]]",
        r#"a.toml:15:12: memory.a.capacity: zero, found "0 B"; expected a size above zero"#,
    ),
    mistake(
        "[[flow]]",
        "[[memory]]\nname = \"a\"\nnode = \"server\"\npeer = \"server\"\ncapacity = \"1 MB\"\nrtt = \"1 ms\"\n\n[[flow]]",
        r#"a.toml:14:8: memory.a.peer: node and peer are one node, found "server"; expected another node"#,
    ),
    mistake(
        "[[flow]]",
        "[[memory]]\nname = \"a\"\nnode = \"server\"\npeer = \"client\"\ncapacity = \"1 MB\"\nrtt = \"1 ms\"\naddress = \"10.0.0\"\n\n[[flow]]",
        r#"a.toml:17:11: memory.a.address: no address, found "10.0.0"; expected one of IPv4 or IPv6"#,
    ),
    // TCP.
    mistake(
        "application = {",
        "protocol = \"udp\"\napplication = {",
        r#"a.toml:15:12: flow.get.protocol: unknown word, found "udp"; expected one of quic, tcp"#,
    ),
    mistake(
        "application = {",
        "tcp = { mss = 1000 }\napplication = {",
        r#"a.toml:15:1: flow.get.tcp: options of another protocol: this flow has protocol = "quic"; expected [flow.transport], or the other protocol"#,
    ),
    mistake(
        "application = {",
        "protocol = \"tcp\"\ntransport = { ack_ratio = 1 }\napplication = {",
        r#"a.toml:16:1: flow.get.transport: options of another protocol: this flow has protocol = "tcp"; expected [flow.tcp], or the other protocol"#,
    ),
    mistake(
        "[[flow]]",
        "[tcp]\nmss = 100\n\n[[flow]]",
        r#"a.toml:12:7: tcp.mss: out of range, found 100; expected a whole number from 536 to 65495"#,
    ),
    mistake(
        "[[flow]]",
        "[tcp]\nresume = { type = \"careful\", token = true }\n\n[[flow]]",
        r#"a.toml:12:30: tcp.resume.token: unknown key, found "token"; expected one of path, lifetime, max_jump, beta, check_path, check_lifetime, check_rtt, rtt_above, rtt_most, check_initial_window, check_single_use, type"#,
    ),
    mistake(
        "application = { type = \"bulk\",",
        "protocol = \"tcp\"\napplication = { streams = 257, type = \"bulk\",",
        r#"a.toml:16:15: flow.get.application.streams: found 257, each of them a TCP connection; expected at most 256, or protocol = "quic""#,
    ),
    mistake(
        "application = { type = \"bulk\", size = \"1 MB\" }",
        "protocol = \"tcp\"\napplication = \"http3\"",
        r#"a.toml:16:15: flow.get.application: "http3" does not go over TCP; expected protocol = "quic""#,
    ),
    mistake(
        "application = { type = \"bulk\", size = \"1 MB\" }",
        "application = { type = \"page\", scheduler = \"rr\" }",
        r#"a.toml:15:44: flow.get.application.scheduler: is an option of HTTP/2; expected over = "http2", or transport.scheduler for HTTP/3"#,
    ),
    mistake(
        "application = { type = \"bulk\", size = \"1 MB\" }",
        "protocol = \"tcp\"\napplication = { type = \"http2\", connection_window = \"60 kB\" }",
        r#"a.toml:16:53: flow.get.application.connection_window: found 60000 bytes; expected 65535 to 2147483647"#,
    ),
    // Keys.
    mistake(
        "seed = 1",
        "sead = 1",
        r#"a.toml:1:1: sead: unknown key, found "sead"; expected one of name, seed, duration, record, tls, transport, tcp, node, link, medium, flow, cross_traffic, memory, event, sweep (did you mean "seed"?)"#,
    ),
    mistake(
        "seed = 1",
        "velocity = 1",
        r#"a.toml:1:1: velocity: unknown key, found "velocity"; expected one of name, seed, duration, record, tls, transport, tcp, node, link, medium, flow, cross_traffic, memory, event, sweep"#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"dealy = "20 ms""#,
        r#"a.toml:9:1: link.cell.dealy: unknown key, found "dealy"; expected one of name, from, to, preset, forward, backward, both, {direction} (did you mean "delay"?)"#,
    ),
    mistake(
        "[[flow]]",
        "[transport]\ncwnd = 3\n\n[[flow]]",
        r#"a.toml:12:1: transport.cwnd: unknown key, found "cwnd"; expected one of {transport}"#,
    ),
    mistake(
        "[[flow]]",
        "[tls]\nsipher = \"aes128gcm\"\n\n[[flow]]",
        r#"a.toml:12:1: tls.sipher: unknown key, found "sipher"; expected one of {tls} (did you mean "cipher"?)"#,
    ),
    mistake(
        "server = \"server\"\n",
        "server = \"server\"\nsise = 1\n",
        r#"a.toml:15:1: flow.get.sise: unknown key, found "sise"; expected one of name, client, server, protocol, application, port, early_data, after, visits, start, stop, ip, transport, tcp"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        r#"application = { type = "bulk", sise = "1 MB" }"#,
        r#"a.toml:15:32: flow.get.application.sise: unknown key, found "sise"; expected one of {bulk}, type (did you mean "size"?)"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"forward = { bandwidth = "10 Mbit/s" }"#,
        r#"a.toml:8:13: link.cell.forward.bandwidth: unknown key, found "bandwidth"; expected one of {direction} (did you mean "rate"?)"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\ntransport.controller = { type = \"newreno\", betta = 0.7 }",
        r#"a.toml:16:44: flow.get.transport.controller.betta: unknown key, found "betta"; expected one of {newreno}, type (did you mean "beta"?)"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "",
        "a.toml:11:1: flow.get.application: missing (what is transferred); expected one of the applications ({applications})",
    ),
    mistake(
        "name = \"cell\"\n",
        "",
        "a.toml:4:1: link.0.name: missing (name of the link); expected a text in quotation marks",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace" }"#,
        "a.toml:8:8: link.cell.rate.file: missing (the trace: one whole number per line, milliseconds, not decreasing); expected the path of a file, relative to the folder of the scenario",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { file = "good.down" }"#,
        "a.toml:8:8: link.cell.rate.type: missing; expected one of {rates}",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        "rate = \"10 Mbit/s\"\nboth = { rate = \"1 Mbit/s\" }",
        "a.toml:9:10: link.cell.both.rate: given twice; expected it either in link.cell or in link.cell.both",
    ),
    // Values.
    mistake(
        r#""20 ms""#,
        "20",
        r#"a.toml:9:9: link.cell.delay: the unit is missing, found 20; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        r#""20""#,
        r#"a.toml:9:9: link.cell.delay: the unit is missing, found "20"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        r#""20 msec""#,
        r#"a.toml:9:9: link.cell.delay: unknown unit, found "20 msec"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        r#""20 Mbit/s""#,
        r#"a.toml:9:9: link.cell.delay: unknown unit, found "20 Mbit/s"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        "-20",
        r#"a.toml:9:9: link.cell.delay: negative, found -20; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        r#""-20 ms""#,
        r#"a.toml:9:9: link.cell.delay: negative, found "-20 ms"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        "true",
        r#"a.toml:9:9: link.cell.delay: wrong type, found true; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        r#"["20 ms"]"#,
        r#"a.toml:9:9: link.cell.delay: wrong type, found a list; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""20 ms""#,
        "1979-05-27",
        r#"a.toml:9:9: link.cell.delay: wrong type, found 1979-05-27; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        r#""10 Mbit/s""#,
        r#""-10 Mbit/s""#,
        r#"a.toml:8:8: link.cell.rate: negative, found "-10 Mbit/s"; expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like "10 Mbit/s""#,
    ),
    mistake(
        r#""10 Mbit/s""#,
        r#""10 mbps""#,
        r#"a.toml:8:8: link.cell.rate: unknown unit, found "10 mbps"; expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like "10 Mbit/s""#,
    ),
    mistake(
        r#""10 Mbit/s""#,
        "10",
        r#"a.toml:8:8: link.cell.rate: the unit is missing, found 10; expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like "10 Mbit/s""#,
    ),
    mistake(
        r#""10 Mbit/s""#,
        r#""0 bit/s""#,
        r#"a.toml:8:8: link.cell.rate: a rate of zero never sends anything; expected a rate above zero, like "10 Mbit/s""#,
    ),
    mistake(
        r#""10 s""#,
        r#""0 s""#,
        r#"a.toml:2:12: duration: zero, found "0 s"; expected a duration above zero"#,
    ),
    mistake(
        r#""10 s""#,
        r#""99999999999999 s""#,
        r#"a.toml:2:12: duration: too large, found "99999999999999 s"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    mistake(
        "seed = 1",
        "seed = -1",
        "a.toml:1:8: seed: negative, found -1; expected a whole number from 0 to 9223372036854775807",
    ),
    mistake(
        "seed = 1",
        "seed = 1.5",
        "a.toml:1:8: seed: wrong type, found 1.5; expected a whole number from 0 to 9223372036854775807",
    ),
    mistake(
        "seed = 1",
        r#"seed = "1""#,
        r#"a.toml:1:8: seed: wrong type, found "1"; expected a whole number from 0 to 9223372036854775807"#,
    ),
    mistake(
        "seed = 1",
        r#"seed = "100 B""#,
        r#"a.toml:1:8: seed: no plain number, without a unit, found "100 B"; expected a whole number from 0 to 9223372036854775807"#,
    ),
    mistake(
        "seed = 1",
        "seed = 99999999999999999999",
        "a.toml:1:8: seed: out of range, found 99999999999999999999; expected a whole number from 0 to 9223372036854775807",
    ),
    mistake(
        r#"delay = "20 ms""#,
        "mtu = 9",
        "a.toml:9:7: link.cell.mtu: out of range, found 9; expected a whole number from 68 to 65535",
    ),
    mistake(
        r#"delay = "20 ms""#,
        "loss = 1.5",
        r#"a.toml:9:8: link.cell.loss: out of range, found 1.5; expected a probability from 0 to 1, or from "0 %" to "100 %""#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = "150 %""#,
        r#"a.toml:9:8: link.cell.loss: out of range, found "150 %"; expected a probability from 0 to 1, or from "0 %" to "100 %""#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = "-1 %""#,
        r#"a.toml:9:8: link.cell.loss: negative, found "-1 %"; expected a probability from 0 to 1, or from "0 %" to "100 %""#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = "5""#,
        r#"a.toml:9:8: link.cell.loss: the unit is missing, found "5"; expected a probability from 0 to 1, or from "0 %" to "100 %""#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        "loss = -0.5",
        r#"a.toml:9:8: link.cell.loss: negative, found -0.5; expected a probability from 0 to 1, or from "0 %" to "100 %""#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        "duplicate = nan",
        r#"a.toml:9:13: link.cell.duplicate: out of range, found NaN; expected a probability from 0 to 1, or from "0 %" to "100 %""#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"reorder = "yes""#,
        r#"a.toml:9:11: link.cell.reorder: wrong type, found "yes"; expected true or false"#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"queue = "5 pakets""#,
        r#"a.toml:9:9: link.cell.queue: unknown unit, found "5 pakets"; expected a queue limit (packets, B/kB/MB, ms/s, BDP or "unlimited"), like "1 BDP""#,
    ),
    mistake(
        r#""1 MB" }"#,
        r#""1 Mbit/s" }"#,
        r#"a.toml:15:39: flow.get.application.size: unknown unit, found "1 Mbit/s"; expected a size with its unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), like "10 MB""#,
    ),
    mistake(
        "[[flow]]",
        "[tls]\nprotection = \"tsl\"\n\n[[flow]]",
        r#"a.toml:12:14: tls.protection: unknown word, found "tsl"; expected one of tls, null (did you mean "tls"?)"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\nip = 5",
        "a.toml:16:6: flow.get.ip: not allowed, found 5; expected one of 4, 6",
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        r#"application = "bulk"
transport.versions = ["1", "3"]"#,
        r#"a.toml:16:28: flow.get.transport.versions.1: unknown word, found "3"; expected a list of some of 1, 2, each once, the preferred one first"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        r#"application = "bulk"
transport.versions = "1 1""#,
        r#"a.toml:16:22: flow.get.transport.versions: given twice, found "1"; expected a list of some of 1, 2, each once, the preferred one first"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        r#"application = "bulk"
transport.versions = []"#,
        r#"a.toml:16:22: flow.get.transport.versions: nothing given, found a list; expected a list of some of 1, 2, each once, the preferred one first"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        r#"application = "bulk"
transport.versions = true"#,
        r#"a.toml:16:22: flow.get.transport.versions: wrong type, found true; expected a list of some of 1, 2, each once, the preferred one first"#,
    ),
    mistake(
        "[[flow]]",
        "[record]\ntables = [\"loss\", \"conection\"]\n\n[[flow]]",
        r#"a.toml:12:19: record.tables.1: unknown word, found "conection"; expected one of connection, loss, event, gauge, wait, stream, message, object, segment, playback, queue, drop, rate, node, air (did you mean "connection"?)"#,
    ),
    mistake(
        "[[flow]]",
        "[record]\ntables = [\"loss\", \"loss\"]\n\n[[flow]]",
        r#"a.toml:12:10: record.tables.1: named twice, found "loss"; expected each table once"#,
    ),
    mistake(
        "[[flow]]",
        "[record]\nbin = \"0 s\"\n\n[[flow]]",
        r#"a.toml:12:7: record.bin: zero, found "0 s"; expected a duration above zero"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\ntransport.initial_window = 0",
        "a.toml:16:28: flow.get.transport.initial_window: out of range, found 0; expected a whole number from 1 to 10000",
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\ntransport.controller = { type = \"newreno\", beta = 2 }",
        "a.toml:16:51: flow.get.transport.controller.beta: out of range, found 2; expected a number from 0.1 to 0.95",
    ),
    mistake(
        "[[flow]]",
        "[transport]\ninitial_rtt = \"1 kB\"\n\n[[flow]]",
        r#"a.toml:12:15: transport.initial_rtt: unknown unit, found "1 kB"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    // Components.
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\ntransport.controller = \"newrneo\"",
        r#"a.toml:16:24: flow.get.transport.controller: unknown word, found "newrneo"; expected one of the controllers ({controllers}) (did you mean "newreno"?)"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\ntransport.controller = 1",
        "a.toml:16:24: flow.get.transport.controller: wrong type, found 1; expected one of the controllers ({controllers})",
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = "gilbert_eliott""#,
        r#"a.toml:9:8: link.cell.loss: unknown word, found "gilbert_eliott"; expected a probability from 0 to 1, or from "0 %" to "100 %", or one of the losses ({losses}) (did you mean "gilbert-elliott"?)"#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = "often""#,
        r#"a.toml:9:8: link.cell.loss: unknown word, found "often"; expected a probability from 0 to 1, or from "0 %" to "100 %", or one of the losses ({losses})"#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = { type = "often" }"#,
        r#"a.toml:9:17: link.cell.loss.type: unknown word, found "often"; expected one of {losses}"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = "fast""#,
        r#"a.toml:8:8: link.cell.rate: unknown word, found "fast"; expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like "10 Mbit/s", or one of the rates ({rates})"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        "rate = { type = 1 }",
        "a.toml:8:17: link.cell.rate.type: wrong type, found 1; expected one of {rates}",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "changes", steps = [] }"#,
        r#"a.toml:8:36: link.cell.rate.steps: no steps; expected at least [["0 s", "2 Mbit/s"]]"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "changes", steps = [["0 s", "1 Mbit/s"], ["5 s"]] }"#,
        r#"a.toml:8:58: link.cell.rate.steps.1: not a pair, found a list; expected a list of pairs [A, B], with A a duration with its unit (ns, us, ms, s, min, h), like "20 ms" and B a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like "10 Mbit/s""#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "changes", steps = [["0 s", "1 Mbit/s"], ["5 s", "2"]] }"#,
        r#"a.toml:8:66: link.cell.rate.steps.1.1: the unit is missing, found "2"; expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like "10 Mbit/s""#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "changes", steps = [["2 s", "1 Mbit/s"], ["1 s", "2 Mbit/s"]] }"#,
        r#"a.toml:8:36: link.cell.rate.steps: the first step is at 2 s, not at "0 s""#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        r#"application = "bluk""#,
        r#"a.toml:15:15: flow.get.application: unknown word, found "bluk"; expected one of the applications ({applications}) (did you mean "bulk"?)"#,
    ),
    // Files.
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "missing.down" }"#,
        r#"a.toml:8:33: link.cell.rate.file: no such file, found "missing.down"; expected the path of a file, relative to the folder of the scenario"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "words.down" }"#,
        r#"a.toml:8:33: link.cell.rate.file: words.down:3: found "...", expected a whole number of milliseconds"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "falling.down" }"#,
        "a.toml:8:33: link.cell.rate.file: falling.down:2: 4 ms comes after 5 ms; times must not decrease",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "nothing.down" }"#,
        "a.toml:8:33: link.cell.rate.file: nothing.down:1: the trace is empty; expected one whole number of milliseconds per line",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "series", file = "wide.csv" }"#,
        r#"a.toml:8:34: link.cell.rate.file: the file is UTF-16, found "wide.csv"; expected UTF-8: save it as UTF-8"#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"jitter = { type = "trace", file = "words.csv" }"#,
        r#"a.toml:9:35: link.cell.jitter.file: words.csv:1: found "...", expected names of columns: one of time_ms, time_s, time_us, time_ns, and one of delay_ms, delay_s, delay_us, delay_ns"#,
    ),
    mistake(
        r#"delay = "20 ms""#,
        r#"loss = { type = "trace", file = "loss.csv", repeat = "1 ms" }"#,
        "a.toml:9:54: link.cell.loss.repeat: loss.csv: repeat 1 ms is not after the last step at 2 ms",
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "binary.down" }"#,
        r#"a.toml:8:33: link.cell.rate.file: not text in UTF-8 (byte 2 is 0xff: Latin-1 or another old code), found "binary.down"; expected UTF-8: save it as UTF-8"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "empty" }"#,
        r#"a.toml:8:33: link.cell.rate.file: a folder, not a file, found "empty"; expected the path of a file, relative to the folder of the scenario"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "" }"#,
        r#"a.toml:8:33: link.cell.rate.file: the path is empty, found ""; expected the path of a file, relative to the folder of the scenario"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "good.down/x" }"#,
        r#"a.toml:8:33: link.cell.rate.file: a part of the path is not a folder, found "good.down/x"; expected the path of a file, relative to the folder of the scenario"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = "/dev/zero" }"#,
        r#"a.toml:8:33: link.cell.rate.file: not a regular file, found "/dev/zero"; expected the path of a file, relative to the folder of the scenario"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"rate = { type = "trace", file = 3 }"#,
        "a.toml:8:33: link.cell.rate.file: wrong type, found 3; expected the path of a file, relative to the folder of the scenario",
    ),
    // Rules across tables.
    mistake(
        r#"server = "server""#,
        r#"server = "sever""#,
        r#"a.toml:14:10: flow.get.server: unknown node, found "sever"; expected one of server, client (did you mean "server"?)"#,
    ),
    mistake(
        r#"client = "client""#,
        r#"client = "server""#,
        r#"a.toml:14:10: flow.get.server: client and server are one node, found "server"; expected another node"#,
    ),
    mistake(
        r#"to = "client""#,
        r#"to = "server""#,
        r#"a.toml:7:6: link.cell.to: a link from a node to itself, found "server"; expected another node"#,
    ),
    mistake(
        r#"to = "client""#,
        r#"to = "the client""#,
        r#"a.toml:7:6: link.cell.to: not a name, found "the client"; expected a name of letters, digits, - _ and . that begins with a letter or digit, at most 64 long"#,
    ),
    mistake(
        r#"to = "client""#,
        "to = 3",
        "a.toml:7:6: link.cell.to: wrong type, found 3; expected a text in quotation marks",
    ),
    mistake(
        r#""get""#,
        r#""get/1""#,
        r#"a.toml:12:8: flow.0.name: not a name, found "get/1"; expected a name of letters, digits, - _ and . that begins with a letter or digit, at most 64 long"#,
    ),
    mistake(
        r#""get""#,
        r#""..""#,
        r#"a.toml:12:8: flow.0.name: not a name, found ".."; expected a name of letters, digits, - _ and . that begins with a letter or digit, at most 64 long"#,
    ),
    mistake(
        "seed = 1",
        r#"name = "a/b""#,
        r#"a.toml:1:8: name: not a name, found "a/b"; expected a name of letters, digits, - _ and . that begins with a letter or digit, at most 64 long"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\n\n[[flow]]\nname = \"get\"\nclient = \"client\"\nserver = \"server\"\napplication = \"bulk\"",
        r#"a.toml:18:8: flow.get.name: given twice, found "get"; expected another name: a.toml:12:8 has this one"#,
    ),
    mistake(
        "[[flow]]",
        "[[link]]\nname = \"cell\"\nfrom = \"x\"\nto = \"y\"\n\n[[flow]]",
        r#"a.toml:12:8: link.cell.name: given twice, found "cell"; expected another name: a.toml:5:8 has this one"#,
    ),
    mistake(
        "[[flow]]",
        "[[link]]\nname = \"other\"\nfrom = \"x\"\nto = \"y\"\n\n[[flow]]\nname = \"lost\"\nclient = \"client\"\nserver = \"y\"\napplication = \"bulk\"\n\n[[flow]]",
        r#"a.toml:19:10: flow.lost: no route from "client" to "y"; from "client" links lead to: server"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\n\n[[node]]\nname = \"client\"\n\n[[node]]\nname = \"alone\"\n\n[[link]]",
        r#"a.toml:10:1: node.alone: a node without a link, found "alone"; expected a [[link]] from or to it, or a [[medium]] with it"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\n\n[[link]]",
        r#"a.toml:10:6: link.cell.to: unknown node, found "client"; expected server"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\n\n[[node]]\nname = \"server\"\n\n[[link]]",
        r#"a.toml:8:8: node.server.name: given twice, found "server"; expected another name: a.toml:5:8 has this one"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\nkind = \"router\"\n\n[[node]]\nname = \"client\"\n\n[[link]]",
        r#"a.toml:6:8: node.server.kind: traffic begins or ends here, found "router"; expected host, ack-pacer or ldad"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\nkind = \"hub\"\n\n[[link]]",
        r#"a.toml:6:8: node.server.kind: unknown word, found "hub"; expected one of the kinds (host, router, gate, ack-pacer, ldad, nat, pep)"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\nkind = \"nat\"\n\n[[node]]\nname = \"client\"\n\n[[link]]",
        r#"a.toml:6:8: node.server.kind: traffic begins or ends here, found "nat"; expected host, ack-pacer or ldad"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\nkind = { type = \"ldad\", tolerance = -1.0 }\n\n[[node]]\nname = \"client\"\n\n[[link]]",
        "a.toml:6:37: node.server.kind.tolerance: negative, found -1.0; expected a number from 0 to 1000",
    ),
    // Events.
    mistake(
        "[[flow]]",
        "[[event]]\nat = \"1 s\"\ntype = \"interface-down\"\nnode = \"cleint\"\ninterface = \"cell\"\n\n[[flow]]",
        r#"a.toml:14:8: event.0.node: unknown node, found "cleint"; expected one of server, client (did you mean "client"?)"#,
    ),
    mistake(
        "[[flow]]",
        "[[event]]\nat = \"1 s\"\ntype = \"interface-down\"\nnode = \"client\"\ninterface = \"wifi\"\n\n[[flow]]",
        r#"a.toml:15:13: event.0.interface: unknown interface of "client", found "wifi"; expected one of cell"#,
    ),
    mistake(
        "[[flow]]",
        "[[event]]\nat = \"10 s\"\ntype = \"migrate\"\nflow = \"get\"\ninterface = \"cell\"\n\n[[flow]]",
        r#"a.toml:12:6: event.0.at: too late, found "10 s"; expected a time before the end of the run (10 s)"#,
    ),
    mistake(
        "[[flow]]",
        "[[event]]\nat = \"1 s\"\ntype = \"migrate\"\nflow = \"get\"\ninterface = \"cell\"\n\n[[flow]]\nprotocol = \"tcp\"",
        r#"a.toml:14:8: event.0.flow: "get" goes over TCP; expected a flow over QUIC"#,
    ),
    mistake(
        "[[flow]]",
        "[[link]]\nname = \"more\"\nfrom = \"client\"\nto = \"other\"\n\n[[event]]\nat = \"1 s\"\ntype = \"forget\"\nnode = \"other\"\n\n[[flow]]",
        r#"a.toml:19:8: event.0.node: has nothing to forget, found the router "other"; expected a nat, or a host with a flow over QUIC"#,
    ),
    mistake(
        "[[flow]]",
        "[[event]]\nat = \"1 s\"\ntype = \"reboot\"\n\n[[flow]]",
        r#"a.toml:13:8: event.0.type: unknown word, found "reboot"; expected one of interface-down, interface-up, migrate, forget, tamper"#,
    ),
    // Middleboxes and media.
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\n\n[[node]]\nname = \"client\"\n\n[[node]]\nname = \"ap\"\nkind = { type = \"nat\", inside = [\"cel\"] }\n\n[[link]]\nname = \"more\"\nfrom = \"ap\"\nto = \"server\"\n\n[[link]]",
        r#"a.toml:12:33: node.ap.kind.inside: not a link or medium of this node, found "cel"; expected one of more"#,
    ),
    mistake(
        "[[link]]",
        "[[node]]\nname = \"server\"\n\n[[node]]\nname = \"client\"\n\n[[node]]\nname = \"ap\"\nkind = \"nat\"\n\n[[link]]\nname = \"more\"\nfrom = \"ap\"\nto = \"server\"\n\n[[link]]",
        r#"a.toml:10:1: node.ap.kind.inside: nothing is outside; expected another link or medium of this node besides"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"shard\"\nterminals = [\"a\", \"b\"]\n\n[[link]]",
        r#"a.toml:6:8: medium.air.type: unknown word, found "shard"; expected one of shared, lte, nr, wlan (did you mean "shared"?)"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nstandard = \"g\"\nrate = \"11 Mbit/s\"\n\n[[link]]",
        r#"a.toml:9:8: medium.air.rate: not a rate of this standard, found 11 Mbit/s; expected 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nstandard = \"b\"\nmcs = 3\n\n[[link]]",
        r#"a.toml:9:7: medium.air.mcs: only 802.11n has schemes; expected rate, or standard = "n""#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nstandard = \"n\"\nrate = \"6 Mbit/s\"\n\n[[link]]",
        r#"a.toml:9:8: medium.air.rate: has no effect in 802.11n, whose rates follow from the scheme; expected mcs"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nhidden = [[\"client\", \"sever\"]]\n\n[[link]]",
        r#"a.toml:8:10: medium.air.hidden: not attached, found "sever"; expected one of client, server"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nhidden = [[\"client\", \"client\"]]\n\n[[link]]",
        r#"a.toml:8:10: medium.air.hidden: a station hears itself, and all hear the access point, found "client" and "client"; expected two terminals"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nstation = \"client\"\nterminals = [\"server\"]\n\n[medium.at.client]\nframe_errors = 0.1\n\n[[link]]",
        r#"a.toml:11:1: medium.air.at.client.frame_errors: has no effect at the station; expected one of rate_control, queue, mtu, or the table of a terminal"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"lte\"\nstation = \"client\"\nterminals = [\"server\"]\n\n[medium.at.client]\nqueue = \"fq-codel\"\nchannel = 5.0\n\n[[link]]",
        r#"a.toml:12:1: medium.air.at.client.channel: has no effect at the station; expected one of queue, mtu, or the table of a terminal"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nbasic_rates = [\"11 Mbit/s\"]\n\n[[link]]",
        r#"a.toml:8:15: medium.air.basic_rates: not all are rates of 802.11g; expected some of 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s, each once"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nstandard = \"g\"\npreamble = \"short\"\n\n[[link]]",
        r#"a.toml:9:12: medium.air.preamble: has no effect in 802.11g, found "short"; expected standard = "b""#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nstandard = \"b\"\nwidth = \"40 MHz\"\n\n[[link]]",
        r#"a.toml:9:9: medium.air.width: has no effect in 802.11b, found "40 MHz"; expected standard = "n" or "n-2.4""#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\nstandard = \"b\"\nslot = \"long\"\n\n[[link]]",
        r#"a.toml:9:8: medium.air.slot: has no effect in 802.11b, found "long"; expected standard = "g" or "n-2.4""#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"wlan\"\nterminals = [\"client\", \"server\"]\n[medium.at.client]\nrate = \"7 Mbit/s\"\n\n[[link]]",
        r#"a.toml:9:8: medium.air.at.client.rate: not a rate of this standard, found 7 Mbit/s; expected 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"shared\"\nterminals = [\"client\"]\n\n[[link]]",
        "a.toml:7:13: medium.air.terminals: too few or too many nodes, found 1; expected 2 to 1001, the station among them",
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"shared\"\nstation = \"client\"\nterminals = [\"server\", \"client\"]\n\n[[link]]",
        r#"a.toml:8:24: medium.air.terminals.1: attached twice, found "client"; expected another node"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"cell\"\ntype = \"shared\"\nterminals = [\"server\", \"client\"]\n\n[[link]]",
        r#"a.toml:5:8: medium.cell.name: given twice, found "cell"; expected another name: a.toml:10:8 has this one"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"shared\"\nterminals = [\"server\", \"client\"]\nreorder = true\n\n[[link]]",
        r#"a.toml:8:1: medium.air.reorder: unknown key, found "reorder"; expected one of rate, delay, queue, loss, mtu, name, type, station, terminals, at"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"shared\"\nterminals = [\"server\", \"client\"]\nat.phone.loss = \"1 %\"\n\n[[link]]",
        r#"a.toml:8:4: medium.air.at.phone: not attached, found "phone"; expected one of server, client"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\ntype = \"shared\"\nterminals = [\"server\", \"client\"]\nat.client.rate = \"1 Mbit/s\"\n\n[[link]]",
        r#"a.toml:8:11: medium.air.at.client.rate: unknown key, found "rate"; expected one of queue, loss, mtu"#,
    ),
    mistake(
        "[[link]]",
        "[[medium]]\nname = \"air\"\nterminals = [\"server\", \"client\"]\n\n[[link]]",
        "a.toml:4:1: medium.air.type: missing (kind of the medium: see `quiclab list media`; its options \
         are given here too); expected a text in quotation marks",
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "application = { type = \"bulk\", size = \"1 MB\" }\nstart = \"10 s\"",
        r#"a.toml:16:9: flow.get.start: too late, found "10 s"; expected a time before the end of the run (10 s)"#,
    ),
    mistake(
        "[[link]]",
        "[link]",
        "a.toml:4:1: link: wrong type, found a table; expected an array of tables, [[link]]",
    ),
    mistake(
        "seed = 1",
        "seed = 1\nnode = 3",
        "a.toml:2:8: node: wrong type, found 3; expected an array of tables, [[node]]",
    ),
    mistake("seed = 1", "seed = 1\nnode = [3]", "a.toml:2:9: node.0: wrong type, found 3; expected a table"),
    mistake(
        "seed = 1",
        "seed = 1\ntls = \"null\"",
        r#"a.toml:2:7: tls: wrong type, found "null"; expected a table"#,
    ),
    mistake(
        r#"rate = "10 Mbit/s""#,
        r#"forward = "10 Mbit/s""#,
        r#"a.toml:8:11: link.cell.forward: wrong type, found "10 Mbit/s"; expected a table"#,
    ),
    // Videos.
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", max_buffer = \"2 s\"",
        r#"a.toml:15:46: flow.get.application.max_buffer: found 2 s; expected at least 3 s, the longest segment of video"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", max_buffer = \"3 s\", presentation = { type = \"ladder\", audio = [\"64 kbit/s\"], audio_segment = \"4 s\" }",
        r#"a.toml:15:46: flow.get.application.max_buffer: found 3 s; expected at least 4 s, the longest segment of audio"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", start_up = \"31 s\"",
        r#"a.toml:15:44: flow.get.application.start_up: found 31 s; expected at most max_buffer, 30 s"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", resume = \"31 s\"",
        r#"a.toml:15:42: flow.get.application.resume: found 31 s; expected at most max_buffer, 30 s"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", from = \"600 s\"",
        r#"a.toml:15:40: flow.get.application.from: found 600 s; expected a position before 600 s, the end of the presentation"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", until = \"601 s\"",
        r#"a.toml:15:41: flow.get.application.until: found 601 s; expected at most 600 s, the end of the presentation"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", from = \"3 s\", until = \"3 s\"",
        r#"a.toml:15:55: flow.get.application.until: found 3 s; expected a position after from, 3 s"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", seeks = [[\"1 s\", \"11 min\"]]",
        r#"a.toml:15:41: flow.get.application.seeks: found 660 s; expected at most 600 s, the end of the presentation"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", seeks = [[\"2 s\", \"9 s\"], [\"2 s\", \"1 s\"]]",
        r#"a.toml:15:41: flow.get.application.seeks: 2 s does not come after 2 s; expected rising times"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", chunk = \"1 s\"",
        r#"a.toml:15:41: flow.get.application.chunk: is only for live playback; expected latency as well, or not this option"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", max_drift = \"1 s\"",
        r#"a.toml:15:45: flow.get.application.max_drift: is only for live playback; expected latency as well, or not this option"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", latency = \"3 s\", chunk = \"900 us\"",
        r#"a.toml:15:58: flow.get.application.chunk: found 900 us; expected at least 1 ms"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", latency = \"3 s\", max_drift = \"0 s\"",
        r#"a.toml:15:62: flow.get.application.max_drift: found 0 s; expected a duration above zero"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", latency = \"3 s\", chunk = \"1 s\", pace = 2.0",
        r#"a.toml:15:72: flow.get.application.pace: chunks are sent at the pace at which they are filmed; expected no chunk, or not this option"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", over = \"http2\"",
        r#"a.toml:15:15: flow.get.application.over: goes over TCP; expected "http3", or protocol = "tcp""#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", abr = \"bolla\"",
        r#"a.toml:15:39: flow.get.application.abr: unknown word, found "bolla"; expected one of the abrs ({abrs}) (did you mean "bola"?)"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"ladder\", segment = \"1 ns\" }",
        r#"a.toml:15:77: flow.get.application.presentation.segment: 600000000000 segments; expected at most 100000"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"ladder\", bitrates = [\"0 bit/s\"] }",
        r#"a.toml:15:78: flow.get.application.presentation.bitrates: video of period 1: representation 1: expected a bitrate of 1 bit/s to 1 Tbit/s"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"no.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: no such file, found "no.mpd"; expected the path of a file, relative to the folder of the scenario"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"undated.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: undated.mpd, line 4: SegmentTemplate: no duration of its segments; expected the attribute duration, or a SegmentTimeline"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"zero.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: zero.mpd, line 5: Representation: bandwidth is "0"; expected a whole number from 1 to 1000000000000"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"many.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: many.mpd, line 4: SegmentTemplate: 1000000000 segments; expected at most 100000"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"bomb.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: bomb.mpd, line 1: a document type definition (<!DOCTYPE>), which an MPD does not need: remove it"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"external.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: external.mpd, line 1: a document type definition (<!DOCTYPE>), which an MPD does not need: remove it"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"mpd\", file = \"words.mpd\" }",
        r#"a.toml:15:71: flow.get.application.presentation.file: words.mpd, line 1: not XML: unknown token at 1:1"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"sizes\", file = \"words.csv\" }",
        r#"a.toml:15:73: flow.get.application.presentation.file: words.csv, line 3: column 2, "...", is "...": "..." is not a number; expected the bytes of a segment, as 86250"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"sizes\", file = \"zero.csv\" }",
        r#"a.toml:15:73: flow.get.application.presentation.file: zero.csv, line 3: column 1, "...", is "0"; expected the bytes of a segment, as 86250"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"sizes\", file = \"short.csv\" }",
        r#"a.toml:15:73: flow.get.application.presentation.file: short.csv, line 3: 1 value for the 2 columns of line 1 ("...", "..."), separated by commas; expected a value, which may be empty, for each"#,
    ),
    mistake(
        r#"type = "bulk", size = "1 MB""#,
        "type = \"video\", presentation = { type = \"sizes\", file = \"header.csv\" }",
        r#"a.toml:15:73: flow.get.application.presentation.file: header.csv, line 1: found "..."; expected the names of representations, each with a letter in it"#,
    ),
    mistake(
        r#"application = { type = "bulk", size = "1 MB" }"#,
        "protocol = \"tcp\"\napplication = \"video\"",
        r#"a.toml:16:15: flow.get.application.over: HTTP/3 goes over QUIC; expected "http1.1", "http2", or protocol = "quic""#,
    ),
    // Not TOML.
    mistake("seed = 1", "seed = ", "a.toml:1:8: not a TOML document: the value is missing"),
    mistake("seed = 1", "seed = # one", "a.toml:1:8: not a TOML document: the value is missing"),
    mistake("seed = 1", "seed 1", "a.toml:1:6: not a TOML document: key with no value, expected `=`"),
    mistake(
        r#""10 s""#,
        "10 s",
        "a.toml:2:12: not a TOML document: not a value; put text in quotation marks",
    ),
    mistake("[[link]]", "[[link]", "a.toml:4:8: not a TOML document: unclosed array table, expected `]`"),
    mistake("duration", "seed", "a.toml:2:1: not a TOML document: duplicate key"),
    mistake(
        "seed = 1",
        "seed = [[[[[[[[[[[[1]]]]]]]]]]]]",
        "a.toml:1:16: not a TOML document: nested too deeply; expected at most 8 brackets",
    ),
    mistake(
        "seed = 1",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g = 1",
        "a.toml:1:69: not a TOML document: nested too deeply; expected at most 32 levels",
    ),
];

fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Fills in lists: `{controllers}` is the list of rows of the room, and `{newreno}` the list of options of the row.
fn filled(line: &str) -> String {
    let mut line = line.to_owned();
    for room in rooms() {
        line = line.replace(&format!("{{{}}}", room.name), &listed(room.rows.iter().map(|row| row.name)));
        for row in &room.rows {
            let options = listed(row.parameters.iter().map(|parameter| parameter.name));
            line = line.replace(&format!("{{{}}}", row.name), &options);
        }
    }
    line
}

#[test]
fn each_mistake_gives_its_error() {
    let folder = folder("mistakes");
    let mut wrong = Vec::new();
    for Mistake { old, new, line } in MISTAKES {
        assert!(GOOD.contains(old), "{old}");
        let text = GOOD.replacen(old, new, 1);
        let error = match Scenario::parse(&text, &folder.join("a.toml"), &[]) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
        let error = error.replace(&format!("{}/", folder.display()), "");
        if error != filled(line) {
            wrong.push(format!("{new:?}\n  gives    {error}\n  expected {}", filled(line)));
        }
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Entities that grow tenfold with each.
const BOMB: &str = "<!DOCTYPE MPD [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]>\n";
/// An entity in a file.
const EXTERNAL: &str = "<!DOCTYPE MPD [<!ENTITY file SYSTEM \"file:///etc/passwd\">]>\n";

/// A folder with invalid files.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = own_folder().join(name);
    fs::create_dir_all(folder.join("empty")).unwrap();
    fs::write(folder.join("good.down"), "1\n2\n").unwrap();
    fs::write(folder.join("words.down"), "1\n2\nthree\n").unwrap();
    fs::write(folder.join("falling.down"), "5\n4\n").unwrap();
    fs::write(folder.join("nothing.down"), "").unwrap();
    fs::write(folder.join("binary.down"), [49, 10, 0xff]).unwrap();
    for (name, before, segments, bandwidth) in [
        ("undated", "", r#"<SegmentTemplate media="$Number$"/>"#, "8000"),
        ("zero", "", r#"<SegmentTemplate media="$Number$" duration="2"/>"#, "0"),
        ("many", "", r#"<SegmentTemplate media="$Number$" timescale="1000000000" duration="6"/>"#, "8000"),
        ("bomb", BOMB, "&c;", "8000"),
        ("external", EXTERNAL, "&file;", "8000"),
    ] {
        let mpd = format!(
            "{before}<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" mediaPresentationDuration=\"PT6S\">\n<Period>\n\
             <AdaptationSet contentType=\"video\">\n{segments}\n<Representation id=\"a\" bandwidth=\"{bandwidth}\"/>\n\
             </AdaptationSet></Period></MPD>\n"
        );
        fs::write(folder.join(name).with_extension("mpd"), mpd).unwrap();
    }
    fs::write(folder.join("words.mpd"), "low,high\n1,2\n").unwrap();
    fs::write(folder.join("words.csv"), "low,high\n1,2\n3,four\n").unwrap();
    fs::write(folder.join("wide.csv"), b"\xff\xfet\0i\0m\0e\0").unwrap();
    fs::write(folder.join("loss.csv"), "time_s;loss\n0;0,5\n0,002;1\n").unwrap();
    fs::write(folder.join("zero.csv"), "low,high\n1,2\n0,4\n").unwrap();
    fs::write(folder.join("short.csv"), "low,high\n1,2\n3\n").unwrap();
    fs::write(folder.join("header.csv"), "1,2\n3,4\n").unwrap();
    folder
}

#[test]
fn a_mistake_in_a_change_names_the_change() {
    for (set, line) in [
        (
            "link.cell.delay=20",
            "--set link.cell.delay=20: link.cell.delay: the unit is missing, found 20; expected a duration with its unit \
             (ns, us, ms, s, min, h), like \"20 ms\"",
        ),
        (
            "flow.get.application.sice=\"1 kB\"",
            "--set flow.get.application.sice=\"1 kB\": flow.get.application.sice: unknown key, found \"sice\"; expected \
             one of {bulk}, type (did you mean \"size\"?)",
        ),
        (
            "flow.got.start=1 s",
            "--set flow.got.start=1 s: flow.got: unknown, found \"got\"; expected one of get, or a number from 0 to 0 \
             (did you mean \"get\"?)",
        ),
        (
            "link.cell.name=a\nb",
            "--set link.cell.name=a\\nb: link.0.name: not a name, found \"a\\nb\"; expected a name of letters, digits, - _ and . that begins with a letter or digit, at most 64 long",
        ),
        ("duration=0 s", "--set duration=0 s: duration: zero, found \"0 s\"; expected a duration above zero"),
    ] {
        let error = Scenario::parse(GOOD, Path::new("a.toml"), &[set.to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), filled(line));
    }
}

#[test]
fn missing_tables_and_files() {
    let line = |text: &str| Scenario::parse(text, Path::new("a.toml"), &[]).unwrap_err().to_string();
    assert_eq!(line(""), "a.toml:1:1: link: missing; expected at least one [[link]] or [[medium]]");
    let no_flow = GOOD.split("[[flow]]").next().unwrap();
    assert_eq!(
        line(no_flow),
        "a.toml:1:1: flow: missing; expected at least one [[flow]], or a node with kind = \"gate\""
    );
    let error = Scenario::from_file("no/such.toml", &[]).unwrap_err();
    assert_eq!(error.to_string(), "no/such.toml: no such file");
    let error = Scenario::from_file(folder("missing"), &[]).unwrap_err();
    assert_eq!(error.problem, "a folder, not a file");
}

#[test]
fn the_parts_of_an_error() {
    let error = Scenario::parse("[[link]]\nspeed = 1", Path::new("a.toml"), &[]).unwrap_err();
    assert_eq!((error.place.as_str(), error.key.as_str()), ("a.toml:2:1", "link.0.speed"));
    assert!(error.problem.starts_with("unknown key, found \"speed\"; expected one of name, "));
}

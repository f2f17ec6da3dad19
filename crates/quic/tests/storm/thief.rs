//! An attacker of what connections resume from: tokens and BDP_FRAMEs that are kept and come again, from the same address or
//! another one, that clients have altered or exchanged, or that a server has forgotten.

use crate::allocator::inside;
use crate::applications::Applications;
use crate::options;
use crate::world::{DatagramInFlight, World, client_address, server_address};
use congestion::Resume;
use random::Generator;
use units::Duration;
use units::parameter::{Arguments, Value};
use wire::Version;

/// The name by which clients know the server.
const SERVER: &str = "server.example:443";
/// The maximum number of datagrams, and of tokens, that it keeps.
const MOST: usize = 32;

/// What it has kept.
#[derive(Default)]
pub(crate) struct Thief {
    first_flights: Vec<DatagramInFlight>,
    tokens: Vec<Vec<u8>>,
}

/// A row of the option `resume`, with options each default or drawn: what an earlier connection has learned is used by all carriers,
/// and expires after seconds or not at all.
pub(crate) fn resume(random: &mut Generator) -> Resume {
    let rows = congestion::RESUMPTIONS;
    let row = &rows[rows.len() - 1 - usize::from(random.chance(0.8))];
    let mut given = Vec::new();
    for parameter in row.parameters {
        let drawn = match parameter.name {
            "lifetime" => {
                Some(Value::Duration(Duration::from_secs([1, 20, 86_400][random.below(3) as usize])))
            }
            "token" | "bdp_frame" => Some(Value::Flag(random.chance(0.7))),
            // In a network of varying delay, most paths would be other ones.
            "rtt_above" | "rtt_most" => None,
            _ if random.chance(0.3) => options::value(random, parameter),
            _ => None,
        };
        given.extend(drawn.map(|value| (parameter.name, value)));
    }
    (row.build)(&Arguments::filled(row.parameters, &given, &[]).unwrap())
}

/// Adds one in place of the oldest.
fn keep<T>(kept: &mut Vec<T>, one: T) {
    if kept.len() == MOST {
        kept.remove(0);
    }
    kept.push(one);
}

fn pick<T: Clone>(random: &mut Generator, of: &[T]) -> Option<T> {
    (!of.is_empty()).then(|| of[random.below(of.len() as u64) as usize].clone())
}

impl Thief {
    /// Keeps a copy of each datagram from a client that begins with a long header: Initial packets with tokens, and 0-RTT packets with
    /// BDP_FRAMEs. Not the copies that other attackers make: the laws must know whose answer a datagram is.
    pub(crate) fn watch<A: Applications>(&mut self, random: &mut Generator, world: &World<A>) {
        let flying = world.in_flight().last().cloned();
        let kept = flying.filter(|flying| {
            flying.to == server_address() && flying.client.is_some() && flying.bytes.first() >= Some(&0x80)
        });
        if let Some(flying) = kept
            && random.chance(0.5)
        {
            keep(&mut self.first_flights, flying);
        }
    }

    /// Performs one attack.
    pub(crate) fn act<A: Applications>(&mut self, random: &mut Generator, world: &mut World<A>) {
        let count = world.clients.len() as u64;
        let (client, other) = (random.below(count) as usize, random.below(count) as usize);
        let delay = Duration::from_micros(random.below(2_000_000));
        let memory = world.clients[client].endpoint.memory().clone();
        match random.below(8) {
            // A first flight again, from where it came or from another client's address.
            0 | 1 => {
                let Some(mut copy) = pick(random, &self.first_flights) else { return };
                if random.chance(0.3) {
                    copy.from = client_address(other);
                    world.laws.vouched(copy.from);
                    // From where a Retry has reached the client, its answer is as good as the client's own.
                    copy.client = copy.client.filter(|(client, _)| *client == other);
                }
                world.launch(delay, copy);
            }
            // What the client has got is altered: tokens by a bit, the capacity in a BDP_FRAME by a factor.
            2 => inside(|| memory.tamper([0.0, 0.1, 10.0, 1e12][random.below(4) as usize])),
            // A token is used again, by this client or another one.
            3 | 6 | 7 => {
                let version = if random.chance(0.5) { Version::V1 } else { Version::V2 };
                let taken = inside(|| memory.take_token(SERVER, version));
                if let Some(token) = taken {
                    keep(&mut self.tokens, token.clone());
                    inside(|| memory.remember_token(SERVER, version, &token));
                    inside(|| drop(token));
                }
                let (reader, picked) = if random.chance(0.5) {
                    (client, self.tokens.last().cloned())
                } else {
                    (other, pick(random, &self.tokens))
                };
                if let Some(mut token) = picked {
                    if random.chance(0.6) {
                        let at = random.below(token.len() as u64) as usize;
                        token[at] ^= 1 << random.below(8);
                    }
                    let memory = world.clients[reader].endpoint.memory().clone();
                    inside(|| memory.remember_token(SERVER, version, &token));
                }
            }
            // Two clients have one memory from now on, and so present what was issued for another address.
            4 if random.chance(0.3) => inside(|| world.clients[other].endpoint.set_memory(memory)),
            // The server forgets.
            5 if random.chance(0.1) => {
                let now = world.now;
                inside(|| world.server.forget(now));
            }
            _ => {}
        }
    }
}

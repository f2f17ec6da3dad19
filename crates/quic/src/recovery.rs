//! What one path has in flight, what it tells of itself, and when more may be sent: the sum of RTT estimate, loss
//! detection, controller and pacer (RFC 9002).

use crate::config::Config;
use crate::loss::{self, LossRun};
use crate::sent::{Contents, SentFrame, SentKind, SentPacket};
use crate::space::Space;
use congestion::{
    AckSample, Allowance, Controller, DeliveryRate, Limit, LostPacket, Pacer, RttEstimate, Sent, SentState,
    Setup, Signal,
};
use trace::event::LossTrigger;
use units::{Duration, Rate, Time};

/// Packets acknowledged by one ACK frame, taken together.
#[derive(Debug, Default)]
pub(crate) struct Newly {
    /// Any packet at all.
    pub any: bool,
    bytes: u64,
    packets: u64,
    ack_eliciting: bool,
    newest_sent_at: Time,
    oldest_sent_at: Option<Time>,
    largest: u64,
    largest_sent_at: Time,
    spurious: Spurious,
    /// More packets with CE than the frame before told of.
    marked: u64,
}

/// Packets that were declared lost and then acknowledged.
#[derive(Debug, Default, Clone, Copy)]
struct Spurious {
    packets: u64,
    bytes: u64,
    newest_sent_at: Time,
}

impl Newly {
    /// Whether the largest of them has this number.
    pub(crate) fn is_largest(&self, number: u64) -> bool {
        self.any && self.largest == number
    }
    /// Takes one packet in.
    #[inline]
    pub(crate) fn add(
        &mut self,
        recovery: &mut Recovery,
        now: Time,
        number: u64,
        packet: &SentPacket,
        was_lost: bool,
    ) {
        let size = u64::from(packet.size);
        if was_lost {
            self.spurious.packets += 1;
            self.spurious.bytes += size;
            self.spurious.newest_sent_at = self.spurious.newest_sent_at.max(packet.sent_at);
        } else if packet.in_flight {
            recovery.bytes_in_flight -= size;
            self.bytes += size;
            self.packets += 1;
        }
        if packet.in_flight {
            recovery.delivery.on_acked(now, size, packet.sent_at, &packet.rate);
        }
        if !self.any || number > self.largest {
            self.largest = number;
            self.largest_sent_at = packet.sent_at;
        }
        self.any = true;
        self.ack_eliciting |= packet.ack_eliciting;
        self.newest_sent_at = self.newest_sent_at.max(packet.sent_at);
        self.oldest_sent_at =
            Some(self.oldest_sent_at.map_or(packet.sent_at, |known| known.min(packet.sent_at)));
    }
}

/// A packet that was declared lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub number: u64,
    pub trigger: LossTrigger,
    pub kind: SentKind,
    /// Its size in bytes.
    pub size: u32,
    pub sent_at: Time,
}

/// The state of one path.
pub(crate) struct Recovery {
    /// Which packets count here: those that were sent in this epoch. Each new path begins one (RFC 9000 section 9.4).
    pub epoch: u32,
    pub rtt: RttEstimate,
    controller: Box<dyn Controller>,
    /// What the controller allowed when it was last told something.
    allowance: Allowance,
    pacer: Pacer,
    delivery: DeliveryRate,
    pub bytes_in_flight: u64,
    pub pto_count: u32,
    first_sample_at: Option<Time>,
    /// What the sender stopped at last.
    limit: Limit,
    /// From when on the pacer would have let something go, while there was nothing.
    dry_from: Option<Time>,
    pub last_rate: Option<Rate>,
    prior_in_flight: u64,
    /// What had been lost before the ACK frame that is taken in.
    prior_lost: u64,
    /// The packets that are declared lost together, for the controller; the memory stays.
    lost: Vec<LostPacket>,
}

impl Recovery {
    pub(crate) fn new(config: &Config, controller: Box<dyn Controller>) -> Recovery {
        let packet = u64::from(config.first_payload());
        let mut recovery = Recovery {
            epoch: 0,
            rtt: RttEstimate::new(config.initial_rtt),
            allowance: controller.allowance(),
            pacer: Pacer::new(config.pacing_burst * packet, config.pacing_quantum * packet),
            controller,
            delivery: DeliveryRate::default(),
            bytes_in_flight: 0,
            pto_count: 0,
            first_sample_at: None,
            limit: Limit::default(),
            dry_from: None,
            last_rate: None,
            prior_in_flight: 0,
            prior_lost: 0,
            lost: Vec::new(),
        };
        recovery.set_pacer(Time::ZERO);
        recovery
    }

    /// A path that nothing was sent on, with this RTT in the place of the option's where it is known; `None` without a
    /// controller of the name in the options.
    pub(crate) fn fresh(config: &Config, rtt: Option<Duration>, seed: u64) -> Option<Recovery> {
        let known = Config { initial_rtt: rtt.unwrap_or(config.initial_rtt), ..config.clone() };
        let chosen = &config.controller;
        let controller = congestion::build(chosen.name, &chosen.arguments, Recovery::setup(&known, seed))?;
        Some(Recovery::new(&known, controller))
    }

    /// What a controller is made from; all that it draws follows from `seed`.
    pub(crate) fn setup(config: &Config, seed: u64) -> Setup {
        let packet = u64::from(config.first_payload());
        Setup {
            max_datagram_size: packet,
            initial_window: packet * config.initial_window,
            initial_rtt: config.initial_rtt,
            seed,
        }
    }

    #[inline]
    fn update_pacer(&mut self, now: Time) {
        let Allowance { window, pacing, quantum } = self.controller.allowance();
        self.allowance.window = window;
        if pacing != self.allowance.pacing || quantum != self.allowance.quantum {
            self.allowance.pacing = pacing;
            self.allowance.quantum = quantum;
            self.set_pacer(now);
        }
    }

    fn set_pacer(&mut self, now: Time) {
        if let Some(bytes) = self.allowance.quantum {
            self.pacer.set_quantum(bytes);
        }
        self.pacer.set_rate(now, self.allowance.pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX)));
    }

    /// Datagrams have another size from now on (RFC 9002 section 7.2).
    pub(crate) fn set_datagram_size(&mut self, now: Time, bytes: u64) {
        self.controller.on_signal(&Signal::DatagramSize { bytes });
        self.update_pacer(now);
    }

    /// Reads a word of its parts, and of the controller.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.controller.allowance().window
            ^ self.bytes_in_flight
            ^ self.rtt.min().as_nanos()
            ^ self.prior_in_flight
    }

    /// The congestion window in bytes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.allowance.window
    }
    /// The rate at which packets are released, if paced.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        self.allowance.pacing
    }
    pub(crate) fn controller(&self) -> &dyn Controller {
        &*self.controller
    }

    /// Whether the window admits a packet of this size.
    #[inline]
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        self.bytes_in_flight + bytes <= self.window()
    }
    /// When the pacer lets the next packet go, if not now.
    #[inline]
    pub(crate) fn paced_until(&mut self, now: Time) -> Option<Time> {
        self.allowance.pacing?;
        self.pacer.blocked_until(now)
    }

    /// The sender stopped at this, with something to send.
    #[inline]
    pub(crate) fn note_stop(&mut self, now: Time, limit: Limit) {
        self.limit = limit;
        if limit != Limit::Application {
            self.settle_dry(now);
        }
    }

    /// The sender stopped because nothing waited to be sent, nor to be sent again, while the window had room.
    #[inline]
    pub(crate) fn note_dry(&mut self, now: Time) {
        self.limit = Limit::Application;
        if self.dry_from.is_none() {
            self.dry_from = Some(self.paced_until(now).unwrap_or(now));
        }
    }

    /// Something is there to be sent. If it could have gone earlier, the application held the rate down, and what goes
    /// within the next round trip tells nothing of the network (draft-ietf-ccwg-bbr-06 section 4.1.2.4).
    #[inline]
    fn settle_dry(&mut self, now: Time) {
        if self.dry_from.take().is_some_and(|from| now > from) {
            self.delivery.on_app_limited(self.bytes_in_flight);
        }
    }

    /// A packet leaves.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, space: &mut Space, size: u32, contents: &Contents) {
        let rate = if contents.in_flight {
            self.settle_dry(now);
            self.delivery.on_sent(now, u64::from(size), self.bytes_in_flight)
        } else {
            // Section 2.2: packets of ACK frames alone are no part of what is in flight.
            SentState::default()
        };
        space.sent.push(now, size, rate, contents);
        if contents.ack_eliciting {
            space.last_eliciting_at = now;
        }
        if contents.in_flight {
            let bytes = u64::from(size);
            self.bytes_in_flight += bytes;
            let (bytes_in_flight, app_limited) = (self.bytes_in_flight, rate.app_limited());
            self.controller.on_sent(&Sent { now, bytes, bytes_in_flight, app_limited });
            self.update_pacer(now);
            self.pacer.on_sent(now, bytes);
        }
    }

    /// Before an ACK frame is taken in.
    #[inline]
    pub(crate) fn begin_ack(&mut self) {
        self.prior_in_flight = self.bytes_in_flight;
        self.prior_lost = self.delivery.lost();
    }

    /// The RTT sample of an ACK frame (RFC 9002 section 5.1): only if it newly acknowledged its largest packet and
    /// something ack-eliciting. Gives the sample.
    #[inline]
    pub(crate) fn sample_rtt(
        &mut self,
        now: Time,
        largest: u64,
        newly: &Newly,
        ack_delay: Duration,
    ) -> Option<Duration> {
        if newly.largest != largest || !newly.ack_eliciting {
            return None;
        }
        let sample = now.since(newly.largest_sent_at);
        self.rtt.update(sample, ack_delay);
        self.first_sample_at.get_or_insert(now);
        Some(sample)
    }

    /// Finds what is lost in a space (RFC 9002 section A.10); the frames go to `lost_frame`, the packets into `losses`.
    pub(crate) fn detect_losses(
        &mut self,
        now: Time,
        space: &mut Space,
        max_ack_delay: Duration,
        losses: &mut Vec<Loss>,
        mut lost_frame: impl FnMut(SentFrame, &mut crate::handshake::CryptoStream),
    ) {
        space.loss_time = None;
        let Some(largest_acked) = space.largest_acked else { return };
        if space.sent.first_number() >= largest_acked {
            return;
        }
        let threshold = loss::time_threshold(&self.rtt);
        losses.clear();
        for (number, packet) in space.sent.outstanding_to(largest_acked) {
            match loss::judge((number, packet.sent_at), largest_acked, threshold, now) {
                Ok(trigger) => {
                    let SentPacket { kind, size, sent_at, .. } = *packet;
                    losses.push(Loss { number, trigger, kind, size, sent_at });
                }
                Err(at) => {
                    space.loss_time = Some(space.loss_time.map_or(at, |known: Time| known.min(at)));
                }
            }
        }
        if losses.is_empty() {
            return;
        }
        let (mut newest_sent_at, mut run) = (Time::ZERO, LossRun::default());
        self.lost.clear();
        for loss in &*losses {
            let crypto = &mut space.crypto;
            let Some(packet) = space.sent.lose(loss.number, |frame| lost_frame(frame, crypto)) else {
                continue;
            };
            // RFC 9000-9.4-1: what another path lost says nothing of this one.
            if packet.epoch != self.epoch {
                continue;
            }
            // RFC 9000 section 14.4: what is larger than what is known to pass may be lost without congestion.
            let probe = packet.kind == SentKind::MtuProbe;
            if probe {
                self.bytes_in_flight -= u64::from(packet.size);
            } else if packet.in_flight {
                let lost = self.delivery.on_lost(u64::from(packet.size), packet.sent_at, &packet.rate);
                self.lost.push(lost);
                newest_sent_at = newest_sent_at.max(packet.sent_at);
            }
            if self.first_sample_at.is_some_and(|first| packet.sent_at > first) {
                run.lost(loss.number, packet.sent_at, packet.ack_eliciting && !probe);
            }
        }
        if self.lost.is_empty() {
            return;
        }
        let bytes = self.lost.iter().map(|packet| packet.bytes).sum();
        self.bytes_in_flight -= bytes;
        let (bytes_in_flight, packets) = (self.bytes_in_flight, &self.lost[..]);
        // RFC 9000-13.3-4.
        self.controller.on_signal(&Signal::Lost { now, bytes, newest_sent_at, bytes_in_flight, packets });
        if run.longest() >= loss::persistent_congestion_period(&self.rtt, max_ack_delay) {
            self.controller.on_signal(&Signal::PersistentCongestion);
        }
        self.update_pacer(now);
    }

    /// The peer has told of more packets that came with CE (RFC 9002 sections 7.1 and B.7).
    pub(crate) fn on_marked(&mut self, now: Time, packets: u64, newly: &mut Newly) {
        newly.marked = packets;
        let newest_sent_at = newly.largest_sent_at;
        self.controller.on_signal(&Signal::Marked { now, packets, newest_sent_at });
        self.update_pacer(now);
    }

    /// Tells the controller of an ACK frame whose losses are already told.
    #[inline]
    pub(crate) fn finish_ack(&mut self, now: Time, newly: &Newly) {
        if newly.spurious.packets > 0 {
            let Spurious { packets, bytes, newest_sent_at } = newly.spurious;
            self.controller.on_signal(&Signal::Spurious { now, packets, bytes, newest_sent_at });
        }
        let rate = self.delivery.sample(now, self.rtt.min());
        self.last_rate = rate.and_then(|sample| sample.rate).or(self.last_rate);
        if newly.bytes > 0 {
            self.controller.on_ack(&AckSample {
                now,
                acked_bytes: newly.bytes,
                newest_sent_at: newly.newest_sent_at,
                oldest_sent_at: newly.oldest_sent_at.unwrap_or(now),
                bytes_in_flight: self.bytes_in_flight,
                prior_in_flight: self.prior_in_flight,
                lost_bytes: self.delivery.lost() - self.prior_lost,
                acked_packets: newly.packets,
                marked_packets: newly.marked,
                delivered: self.delivery.delivered(),
                limit: self.limit,
                rtt: &self.rtt,
                rate,
            });
        }
        self.update_pacer(now);
    }

    /// The delay of a path validation is the first guess of the RTT (RFC 9002 section 6.2.2), not a sample.
    pub(crate) fn guess_rtt(&mut self, delay: Duration) {
        if self.first_sample_at.is_none() {
            self.rtt = RttEstimate::new(delay);
        }
    }

    /// A space is given up with all that it has in flight (RFC 9002 section 6.4).
    pub(crate) fn discard(&mut self, space: &mut Space) {
        self.bytes_in_flight -= space.sent.discard_all();
        self.pto_count = 0;
    }
}

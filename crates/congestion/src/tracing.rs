//! Traces of a path: metrics, the controller's gauges, and its state when it changes.

use crate::{Regulator, RttEstimate};
use trace::{Event, Log, Metrics};
use units::Time;

/// The transport's knowledge of the path.
#[derive(Debug, Clone, Copy)]
pub struct PathMetrics<'a> {
    /// The RTT.
    pub rtt: &'a RttEstimate,
    /// Bytes in flight.
    pub bytes_in_flight: u64,
    /// The number of consecutive probe timeouts or retransmission timeouts.
    pub pto_count: u32,
}

impl Regulator {
    /// Writes metrics, gauges, and the controller's state if it differs from `told`, which is updated. Whether
    /// metrics are recorded at all is for the caller to check.
    pub fn trace(&self, now: Time, path: &PathMetrics<'_>, told: &mut &'static str, log: &mut Log) {
        let controller = self.controller();
        let sampled = path.rtt.is_sampled();
        let metrics = Metrics {
            cwnd: self.window(),
            bytes_in_flight: path.bytes_in_flight,
            ssthresh: controller.ssthresh(),
            latest_rtt: sampled.then(|| path.rtt.latest()),
            smoothed_rtt: path.rtt.smoothed(),
            min_rtt: sampled.then(|| path.rtt.min()),
            rtt_variance: path.rtt.variance(),
            pacing_rate: self.pacing_rate(),
            delivery_rate: self.last_rate(),
            pto_count: path.pto_count,
        };
        log.push(now, Event::Metrics(metrics));
        controller.gauges(&mut |name, value| log.push(now, Event::Gauge { name, value }));
        if let Some(resuming) = self.resuming() {
            let mut gauge = |name, value| log.push(now, Event::Gauge { name, value });
            gauge("resume_phase", f64::from(resuming.phase().number()));
            gauge("jump_cwnd_bytes", resuming.jump() as f64);
            gauge("pipesize_bytes", resuming.pipe_size() as f64);
        }
        let state = controller.state();
        if *told != state {
            *told = state;
            log.push(now, Event::CongestionState { state });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regulator::tests::regulator;
    use crate::testing::{at, ms};
    use crate::{Acked, Limit, Resume, Saved};
    use trace::Interest;

    #[test]
    fn metrics_then_gauges_and_the_state_once() {
        let (regulator, _) = regulator();
        let rtt = RttEstimate::new(ms(50));
        let path = PathMetrics { rtt: &rtt, bytes_in_flight: 3000, pto_count: 2 };
        let (mut told, mut log) = ("", Log::new(Interest::ALL));
        regulator.trace(at(1), &path, &mut told, &mut log);
        regulator.trace(at(2), &path, &mut told, &mut log);
        let events: Vec<Event> = log.drain().map(|record| record.event).collect();
        let gauge = |event: &Event| matches!(event, Event::Gauge { name: "told", value } if *value == 0.0);
        let metrics = |event: &Event| match event {
            Event::Metrics(metrics) => {
                (metrics.cwnd, metrics.bytes_in_flight, metrics.pto_count) == (10_000, 3000, 2)
            }
            _ => false,
        };
        assert!(metrics(&events[0]) && gauge(&events[1]) && metrics(&events[3]) && gauge(&events[4]));
        assert!(matches!(events[2], Event::CongestionState { state: "listening" }));
        assert_eq!((events.len(), told), (5, "listening"));
    }

    /// The phase, the jump and what was validated, once a capacity was taken over.
    #[test]
    fn a_resumed_path_has_gauges() {
        let (mut regulator, _) = regulator();
        let saved = Saved { window: 300_000, rtt: ms(600) };
        regulator.resume((saved, None), 10_000, Resume::default().careful);
        let rtt = RttEstimate::new(ms(50));
        let path = PathMetrics { rtt: &rtt, bytes_in_flight: 3000, pto_count: 2 };
        let gauges = |regulator: &Regulator| {
            let mut log = Log::new(Interest::ALL);
            regulator.trace(at(1), &path, &mut "listening", &mut log);
            let gauges = log.drain().filter_map(|record| match record.event {
                Event::Gauge { name, value } if name != "told" => Some((name, value)),
                _ => None,
            });
            gauges.collect::<Vec<_>>()
        };
        let expected =
            |phase, pipe| [("resume_phase", phase), ("jump_cwnd_bytes", 150_000.0), ("pipesize_bytes", pipe)];
        assert_eq!(gauges(&regulator), expected(0.0, 0.0));
        let mut acked = Acked::default();
        acked.count(10_000);
        acked.saw(units::Time::ZERO);
        regulator.begin_ack(10_000);
        let mut sampled = RttEstimate::new(ms(600));
        sampled.update(ms(600), units::Duration::ZERO);
        regulator.end_ack(at(600), &acked, 0, &sampled);
        regulator.jump(at(600), Limit::Window, 9_000);
        assert_eq!(gauges(&regulator), expected(1.0, 9_000.0));
    }
}

//! The table `air`: what link layers did, per time bin.

use super::bounded::FirstRows;
use super::schema::air;
use super::table::Table;
use super::value::Code;
use crate::event::{Block, BlockFate, Stages};
use units::{Duration, Time};

/// The current bin of a lane.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    index: u64,
    /// The code of the lane in the column `link`.
    link: u32,
    sent: u64,
    again: u64,
    lost: u64,
    handovers: u64,
    bytes: u64,
    airtime_ns: u64,
    packets: u64,
    delays: Stages,
}

/// Counts blocks and delays per lane and bin. Bins in which a lane did nothing have no row.
#[derive(Debug, Clone)]
pub(super) struct Airs {
    rows: FirstRows<air::Row>,
    width: u64,
    bins: Vec<Option<Bin>>,
}

impl Airs {
    pub(super) fn new(width: Duration, limit: usize) -> Airs {
        Airs { rows: FirstRows::new(limit), width: width.as_nanos().max(1), bins: Vec::new() }
    }

    /// Counts a block. A block counts in the bin in which it ends.
    pub(super) fn block(&mut self, time: Time, lane: (u32, u32), block: &Block) {
        let bin = self.bin(time, lane);
        if block.attempt == 1 {
            bin.sent += 1;
        } else {
            bin.again += 1;
        }
        bin.lost += u64::from(block.fate == BlockFate::Lost);
        bin.bytes += u64::from(block.bytes);
        bin.airtime_ns += u64::from(block.airtime_ns);
    }

    /// Counts a packet that was handed over.
    pub(super) fn handed_over(&mut self, time: Time, lane: (u32, u32), stages: Stages) {
        let bin = self.bin(time, lane);
        bin.packets += 1;
        bin.delays += stages;
    }

    /// Counts a handover, for which this many blocks were given up.
    pub(super) fn handover(&mut self, time: Time, lane: (u32, u32), lost_blocks: u32) {
        let bin = self.bin(time, lane);
        bin.handovers += 1;
        bin.lost += u64::from(lost_blocks);
    }

    /// The bin of a subject, whose code in the column is `link`, at a time.
    fn bin(&mut self, time: Time, (subject, link): (u32, u32)) -> &mut Bin {
        let (at, index) = (subject as usize, time.as_nanos() / self.width);
        if self.bins.len() <= at {
            self.bins.resize(at + 1, None);
        }
        if self.bins[at].is_none_or(|bin| bin.index != index)
            && let Some(bin) = self.bins[at].replace(Bin { index, link, ..Bin::default() })
        {
            self.write(&bin);
        }
        self.bins[at].get_or_insert_default()
    }

    fn write(&mut self, bin: &Bin) {
        let Stages { queue, access, transfer, order } = bin.delays;
        let mean =
            |sum: Duration| (bin.packets > 0).then(|| sum.as_nanos() as f64 / 1e6 / bin.packets as f64);
        self.rows.push(air::Row {
            time_s: Time::from_nanos(bin.index * self.width).as_secs_f64(),
            link: Code(bin.link),
            sent_blocks: bin.sent,
            again_blocks: bin.again,
            lost_blocks: bin.lost,
            block_bytes: bin.bytes,
            air_share: bin.airtime_ns as f64 / self.width as f64,
            packets: bin.packets,
            queue_delay_ms: mean(queue),
            access_delay_ms: mean(access),
            transfer_delay_ms: mean(transfer),
            order_delay_ms: mean(order),
            handovers: bin.handovers,
        });
    }

    /// The table, sorted by time and then by the order in which lanes were first active.
    pub(super) fn into_table(mut self) -> Table {
        for at in 0..self.bins.len() {
            if let Some(bin) = self.bins[at].take() {
                self.write(&bin);
            }
        }
        self.rows.table.sort_by_time_and_code();
        self.rows.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn blocks_and_delays_are_counted_per_bin() {
        let mut airs = Airs::new(Duration::from_millis(10), 100);
        let block =
            |attempt, fate| Block { bytes: 100, airtime_ns: 1_000_000, attempt, mcs: 5, units: 1, fate };
        airs.block(ms(1), (0, 7), &block(1, BlockFate::Failed));
        airs.block(ms(9), (0, 7), &block(2, BlockFate::Lost));
        airs.block(ms(3), (2, 8), &block(1, BlockFate::Received));
        let stages = |ms| Stages { queue: Duration::from_millis(ms), ..Stages::default() };
        airs.handed_over(ms(35), (0, 7), stages(1));
        airs.handed_over(ms(36), (0, 7), stages(2));
        airs.handover(ms(37), (0, 7), 4);
        let table = airs.into_table();
        let column = |name: &str| {
            let column = table.columns.iter().find(|column| column.name == name).unwrap();
            (0..table.rows()).map(|row| column.number(row)).collect::<Vec<_>>()
        };
        assert_eq!(column("time_s"), [Some(0.0), Some(0.0), Some(0.03)]);
        assert_eq!(column("sent_blocks"), [Some(1.0), Some(1.0), Some(0.0)]);
        assert_eq!(column("again_blocks"), [Some(1.0), Some(0.0), Some(0.0)]);
        assert_eq!(column("lost_blocks"), [Some(1.0), Some(0.0), Some(4.0)]);
        assert_eq!(column("handovers"), [Some(0.0), Some(0.0), Some(1.0)]);
        assert_eq!(column("air_share"), [Some(0.2), Some(0.1), Some(0.0)]);
        assert_eq!(column("packets"), [Some(0.0), Some(0.0), Some(2.0)]);
        assert_eq!(column("queue_delay_ms"), [None, None, Some(1.5)]);
    }
}

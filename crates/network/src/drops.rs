//! Counts of dropped packets by flow.

/// The number of flows that are counted individually.
const MAX_COUNTED_FLOWS: usize = 1 << 16;

/// The number of packets of each flow that were dropped at one place.
#[derive(Debug, Default)]
pub(crate) struct Drops(Vec<u64>);

impl Drops {
    /// Counts a packet of a flow. Flows from 65,536 on are not counted.
    pub(crate) fn note(&mut self, flow: u32) {
        let flow = flow as usize;
        if flow < MAX_COUNTED_FLOWS {
            self.0.resize(self.0.len().max(flow + 1), 0);
            self.0[flow] += 1;
        }
    }
    /// The dropped packets of a flow.
    pub(crate) fn of(&self, flow: u32) -> u64 {
        self.0.get(flow as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_its_count_up_to_the_limit() {
        let mut drops = Drops::default();
        [3, 0, 3, 65_535, 65_536, u32::MAX].into_iter().for_each(|flow| drops.note(flow));
        let counts = [0, 1, 3, 65_535, 65_536, u32::MAX].map(|flow| drops.of(flow));
        assert_eq!(counts, [1, 0, 2, 1, 0, 0]);
    }
}

//! Measurements: a case, what it transferred, and the ratio of two cases.

/// Application bytes of a bulk transfer.
pub(crate) const BULK: usize = 375_000_000;

/// The protection of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    /// No cryptography: a modelled handshake of the usual sizes, a tag of zeros.
    Null,
    /// rustls with ring, AES-128-GCM, a P-256 certificate.
    Tls,
}

/// One measurement.
pub(crate) trait Case {
    /// Its name in the results.
    fn name(&self) -> &'static str;
    /// The unit of its value.
    fn unit(&self) -> &'static str;
    /// One sentence for the reader of the table.
    fn about(&self) -> &'static str;
    /// Measures once.
    fn run(&mut self) -> f64;
    /// What the last run transferred, for cases whose value is a speed: it shows that two cases did the same
    /// work.
    fn transfer(&self) -> Option<Transfer> {
        None
    }
}

/// The outcome of a bulk transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Transfer {
    /// Datagrams that reached the receiver: packets with stream data, except for a few of the handshake.
    pub(crate) data_packets: u64,
    /// Datagrams that reached the sender: acknowledgements, except for a few.
    pub(crate) ack_packets: u64,
    /// Datagrams that the queue dropped in the direction of the data.
    pub(crate) dropped: u64,
    /// Application bytes that the receiver read.
    pub(crate) bytes: u64,
    /// Virtual time from the first packet to the end of the transfer, in seconds. The end is the last
    /// acknowledgement; with quiclab it is the arrival of the last byte at the receiver, one propagation delay
    /// earlier.
    pub(crate) seconds: f64,
}

/// A value that compares two cases: one divided by the other, in the same round.
pub(crate) struct Ratio {
    /// Its name in the results.
    pub(crate) name: &'static str,
    /// The case in the numerator.
    pub(crate) over: &'static str,
    /// The case in the denominator.
    pub(crate) under: &'static str,
    /// One sentence for the reader of the table.
    pub(crate) about: &'static str,
}

//! What a measurement is: a case, what it transferred, a ratio of two.

/// Application bytes of a bulk transfer.
pub(crate) const BULK: usize = 375_000_000;

/// What protects the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    /// No cryptography: a modelled handshake of the usual sizes, a tag of zeros.
    Null,
    /// rustls with ring, AES-128-GCM, a P-256 certificate.
    Tls,
}

/// One thing that is measured.
pub(crate) trait Case {
    /// Its name in the results.
    fn name(&self) -> &'static str;
    /// What its value counts.
    fn unit(&self) -> &'static str;
    /// One sentence for the reader of the table.
    fn about(&self) -> &'static str;
    /// Measures once.
    fn run(&mut self) -> f64;
    /// What the last run transferred, of the cases whose value is a speed: it shows that two cases did the same.
    fn transfer(&self) -> Option<Transfer> {
        None
    }
}

/// What a bulk transfer came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Transfer {
    /// Datagrams that reached the receiver: a packet with stream data each, but for a handful of the handshake.
    pub(crate) data_packets: u64,
    /// Datagrams that reached the sender: acknowledgements, but for a few.
    pub(crate) ack_packets: u64,
    /// Datagrams that the queue dropped on the way of the data.
    pub(crate) dropped: u64,
    /// Application bytes that the receiver read.
    pub(crate) bytes: u64,
    /// Virtual time from the first packet to the end of the transfer, in seconds. The end is the last acknowledgement,
    /// with quiclab the last byte at the receiver, which comes one propagation delay earlier.
    pub(crate) seconds: f64,
}

/// A value that compares two cases: the one over the other, in the same round.
pub(crate) struct Ratio {
    /// Its name in the results.
    pub(crate) name: &'static str,
    /// The case above the line.
    pub(crate) over: &'static str,
    /// The case below the line.
    pub(crate) under: &'static str,
    /// One sentence for the reader of the table.
    pub(crate) about: &'static str,
}

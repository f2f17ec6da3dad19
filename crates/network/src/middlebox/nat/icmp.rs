//! What a NAT does with ICMP (RFC 5508): queries have an identifier instead of a port, and an error is about a packet that the NAT
//! has translated.

use super::{ICMP, Nat, Refusal, TCP, UDP};
use crate::packet::Packet;
use std::net::{IpAddr, SocketAddr};
use units::Time;
use wire::ip::icmp::{self, Embedded, Icmp};

impl Nat {
    /// Translates a packet that is neither UDP nor TCP, and that does not pass from inside to inside.
    pub(super) fn translate_icmp(
        &mut self,
        now: Time,
        from_inside: bool,
        packet: &mut Packet,
    ) -> Result<(), Refusal> {
        let is_for_nat = packet.destination.ip() == self.own[usize::from(packet.destination.is_ipv6())];
        match Icmp::of(&packet.bytes) {
            Some(Icmp::Query(id)) if from_inside && !is_for_nat => self.translate_query(now, packet, id),
            Some(Icmp::Answer(id)) if is_for_nat => self.translate_answer(packet, id),
            Some(Icmp::Query(_) | Icmp::Answer(_)) => Err(Refusal::Unsolicited),
            Some(Icmp::Error) => self.translate_error(from_inside, packet),
            Some(Icmp::Other) | None => Err(Refusal::Untranslatable),
        }
    }

    /// A query goes out with an identifier of the NAT (REQ-1).
    fn translate_query(&mut self, now: Time, packet: &mut Packet, id: u16) -> Result<(), Refusal> {
        let (source, destination) = (packet.source.ip(), packet.destination.ip());
        let own = self.own[usize::from(source.is_ipv6())];
        let mapped = self.map(now, ICMP, SocketAddr::new(source, id))?;
        icmp::set_id(&mut packet.bytes, [source, destination], [own, destination], mapped);
        readdress(packet, own, destination);
        self.counters.out += 1;
        Ok(())
    }

    /// The answer finds the sender of the query by that identifier.
    fn translate_answer(&mut self, packet: &mut Packet, id: u16) -> Result<(), Refusal> {
        let (source, destination) = (packet.source.ip(), packet.destination.ip());
        let inside = self.inside_of(ICMP, SocketAddr::new(destination, id)).ok_or(Refusal::Unsolicited)?;
        icmp::set_id(&mut packet.bytes, [source, destination], [source, inside.ip()], inside.port());
        readdress(packet, source, inside.ip());
        self.counters.back += 1;
        Ok(())
    }

    /// An error is translated by the mapping of the packet that it is about, which is its reason to pass, and which it does not
    /// refresh (REQ-3 to REQ-5, REQ-7, REQ-10).
    fn translate_error(&mut self, from_inside: bool, packet: &mut Packet) -> Result<(), Refusal> {
        let before = [packet.source.ip(), packet.destination.ip()];
        let own = self.own[usize::from(before[0].is_ipv6())];
        let about = icmp::embedded(&packet.bytes).map_err(|_| Refusal::Untranslatable)?;
        let (what, mut sender, mut receiver) = about;
        let protocol = match what {
            Embedded::Udp => UDP,
            Embedded::Tcp => TCP,
            Embedded::Icmp => ICMP,
        };
        let [mut from, mut to] = before;
        if to == own {
            sender = self.inside_of(protocol, sender).ok_or(Refusal::Unsolicited)?;
            to = sender.ip();
        } else if !from_inside {
            return Err(Refusal::Unsolicited);
        }
        if from_inside {
            // About a packet from outside, or from inside by way of the NAT.
            let table = &self.tables[protocol][usize::from(receiver.is_ipv6())];
            let mapped = table.by_inside.get(&receiver).ok_or(Refusal::Unsolicited)?;
            receiver = SocketAddr::new(own, *mapped);
            from = own;
        }
        icmp::set_embedded(&mut packet.bytes, before, [from, to], sender, receiver)
            .map_err(|_| Refusal::Untranslatable)?;
        readdress(packet, from, to);
        if from_inside {
            self.counters.out += 1;
        }
        if to != before[1] {
            self.counters.back += 1;
        }
        Ok(())
    }

    /// The inside address that one of the NAT's own represents.
    fn inside_of(&self, protocol: usize, own: SocketAddr) -> Option<SocketAddr> {
        let version = usize::from(own.is_ipv6());
        let mapping = self.tables[protocol][version].by_port.get(&own.port());
        mapping.filter(|_| own.ip() == self.own[version]).map(|mapping| mapping.inside)
    }
}

/// Gives a packet without ports other addresses.
fn readdress(packet: &mut Packet, source: IpAddr, destination: IpAddr) {
    packet.readdress(SocketAddr::new(source, 0), SocketAddr::new(destination, 0));
}

#[cfg(test)]
mod tests;

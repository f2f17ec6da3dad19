//! Echoes and errors byte by byte. What a translator does is tested with the NAT, in `network`.

use super::*;

/// `ping -c 1 -s 4` from 10.0.0.1 to 10.0.0.2, with a TTL of 3.
const PING: [u8; 32] = [
    0x45, 0, 0, 32, 0, 1, 0, 0, 3, 1, 0xa3, 0xda, 10, 0, 0, 1, 10, 0, 0, 2, 8, 0, 0x2c, 0x3a, 0, 7, 0, 1,
    0x62, 0x63, 0x69, 0x5a,
];

fn right(bytes: &[u8]) -> bool {
    checksum::Sum::default().add(&bytes[..20]).finish() == 0
        && checksum::Sum::default().add(&bytes[20..]).finish() == 0
}

#[test]
fn an_echo_request_is_answered_with_its_data() {
    assert!(right(&PING));
    let reply = echo_reply(&PING).unwrap();
    assert!(right(&reply));
    assert_eq!(
        (reply[8], &reply[12..20], &reply[20..22]),
        (64, &[10, 0, 0, 2, 10, 0, 0, 1][..], &[0, 0][..])
    );
    assert_eq!(reply[24..], PING[24..]);
    assert_eq!(Icmp::of(&reply), Some(Icmp::Answer(7)));
    assert_eq!(echo_reply(&reply), None);
}

#[test]
fn a_wrong_checksum_stays_wrong() {
    let mut altered = PING;
    altered[31] ^= 1;
    let reply = echo_reply(&altered).unwrap();
    assert_ne!(checksum::Sum::default().add(&reply[20..]).finish(), 0);
    let ends = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
    assert!(set_id(&mut altered, ends, ends, 9));
    assert_ne!(checksum::Sum::default().add(&altered[20..]).finish(), 0);
}

#[test]
fn an_error_has_the_packet_that_it_is_about() {
    let from = IpAddr::from([10, 0, 0, 3]);
    for (what, kind, code, value) in [
        (IcmpError::TimeExceeded, 11, 0, [0, 0, 0, 0]),
        (IcmpError::PortUnreachable, 3, 3, [0, 0, 0, 0]),
        (IcmpError::TooBig(1280), 3, 4, [0, 0, 5, 0]),
    ] {
        let told = error(&PING, from, what).unwrap();
        assert!(right(&told));
        assert_eq!((&told[20..22], &told[24..28], &told[28..]), (&[kind, code][..], &value[..], &PING[..]));
        assert_eq!(told[12..20], [10, 0, 0, 3, 10, 0, 0, 1]);
        assert_eq!(Icmp::of(&told), Some(Icmp::Error));
        let id = |last| SocketAddr::new([10, 0, 0, last].into(), 7);
        assert_eq!(embedded(&told), Ok((Embedded::Icmp, id(1), id(2))));
    }
    // A long packet is cut off (RFC 1812 section 4.3.2.3).
    let mut long = PING.to_vec();
    long.resize(1500, 0);
    long[2..4].copy_from_slice(&1500_u16.to_be_bytes());
    assert_eq!(error(&long, from, IcmpError::TimeExceeded).unwrap().len(), 576);
    let mut six = vec![0x60, 0, 0, 0, 5, 0xb4, 17, 1];
    six.extend_from_slice(&[0xfd; 32]);
    six.resize(1500, 1);
    let told = error(&six, "fd00::3".parse().unwrap(), IcmpError::TooBig(1400)).unwrap();
    assert_eq!((told.len(), &told[40..42], &told[44..48]), (1280, &[2, 0][..], &[0, 0, 5, 0x78][..]));
}

/// RFC 1122 section 3.2.2.
#[test]
fn there_is_no_error_about_errors_fragments_and_groups() {
    let from = IpAddr::from([10, 0, 0, 3]);
    let changed = |at: usize, value: u8| {
        let mut bytes = PING;
        bytes[at] = value;
        error(&bytes, from, IcmpError::TimeExceeded)
    };
    assert!(changed(6, 0x20).is_some(), "the first fragment");
    let told = changed(6, 0x20).unwrap();
    assert_eq!(error(&told, from, IcmpError::TimeExceeded), None);
    for (at, value) in [(7, 1), (16, 224), (12, 224), (12, 127), (20, 5)] {
        assert_eq!(changed(at, value), None, "byte {at}");
    }
}

#[test]
fn an_error_is_about_a_packet_of_its_own_version() {
    let mut told = error(&PING, [10, 0, 0, 3].into(), IcmpError::TimeExceeded).unwrap();
    told[28] = 0x65;
    told.resize(100, 0);
    assert_eq!(embedded(&told), Err(IpError::Version));
}

#[test]
fn nothing_is_read_beyond_the_end() {
    for size in 0..PING.len() {
        let bytes = &PING[..size];
        assert_eq!(Icmp::of(bytes).is_some(), size >= 28, "{size} bytes");
        assert_eq!(echo_reply(bytes), None);
        assert_eq!(error(bytes, [10, 0, 0, 3].into(), IcmpError::TimeExceeded), None);
    }
    let told = error(&PING, [10, 0, 0, 3].into(), IcmpError::TimeExceeded).unwrap();
    let ends = [[10, 0, 0, 3], [10, 0, 0, 1]].map(IpAddr::from);
    let id = |last| SocketAddr::new([10, 0, 0, last].into(), 7);
    for size in 0..told.len() {
        let mut cut = told[..size].to_vec();
        assert_eq!(set_embedded(&mut cut, ends, ends, id(4), id(2)).is_ok(), size >= 56, "{size} bytes");
    }
}

//! Tests of the bytes of captures, and of their decryption by tshark.

use super::*;
use pcap_file::pcapng::blocks::{INTERFACE_DESCRIPTION_BLOCK, SECTION_HEADER_BLOCK};
use proptest::prelude::*;
use std::process::Command;

/// The client's Initial packet of RFC 9001 appendix A.2.
const CLIENT_INITIAL: &str = "\
    c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11d242b123dc9bd8bab936b47d92ec356c\
    0bab7df5976d27cd449f63300099f3991c260ec4c60d17b31f8429157bb35a1282a643a8d2262cad67500cadb8e7378c\
    8eb7539ec4d4905fed1bee1fc8aafba17c750e2c7ace01e6005f80fcb7df621230c83711b39343fa028cea7f7fb5ff89\
    eac2308249a02252155e2347b63d58c5457afd84d05dfffdb20392844ae812154682e9cf012f9021a6f0be17ddd0c208\
    4dce25ff9b06cde535d0f920a2db1bf362c23e596d11a4f5a6cf3948838a3aec4e15daf8500a6ef69ec4e3feb6b1d98e\
    610ac8b7ec3faf6ad760b7bad1db4ba3485e8a94dc250ae3fdb41ed15fb6a8e5eba0fc3dd60bc8e30c5c4287e53805db\
    059ae0648db2f64264ed5e39be2e20d82df566da8dd5998ccabdae053060ae6c7b4378e846d29f37ed7b4ea9ec5d82e7\
    961b7f25a9323851f681d582363aa5f89937f5a67258bf63ad6f1a0b1d96dbd4faddfcefc5266ba6611722395c906556\
    be52afe3f565636ad1b17d508b73d8743eeb524be22b3dcbc2c7468d54119c7468449a13d8e3b95811a198f3491de3e7\
    fe942b330407abf82a4ed7c1b311663ac69890f4157015853d91e923037c227a33cdd5ec281ca3f79c44546b9d90ca00\
    f064c99e3dd97911d39fe9c5d0b23a229a234cb36186c4819e8b9c5927726632291d6a418211cc2962e20fe47feb3edf\
    330f2c603a9d48c0fcb5699dbfe5896425c5bac4aee82e57a85aaf4e2513e4f05796b07ba2ee47d80506f8d2c25e50fd\
    14de71e6c418559302f939b0e1abd576f279c4b2e0feb85c1f28ff18f58891ffef132eef2fa09346aee33c28eb130ff2\
    8f5b766953334113211996d20011a198e3fc433f9f2541010ae17c1bf202580f6047472fb36857fe843b19f5984009dd\
    c324044e847a4f4a0ab34f719595de37252d6235365e9b84392b061085349d73203a4a13e96f5432ec0fd4a1ee65accd\
    d5e3904df54c1da510b0ff20dcc0c77fcb2c0e0eb605cb0504db87632cf3d8b4dae6e705769d1de354270123cb11450e\
    fc60ac47683d7b8d0f811365565fd98c4c8eb936bcab8d069fc33bd801b03adea2e1fbc5aa463d08ca19896d2bf59a07\
    1b851e6c239052172f296bfb5e72404790a2181014f3b94a4e97d117b438130368cc39dbb2d198065ae3986547926cd2\
    162f40a29f0c3c8745c0f50fba3852e566d44575c29d39a03f0cda721984b6f440591f355e12d439ff150aab7613499d\
    bd49adabc8676eef023b15b65bfc5ca06948109f23f350db82123535eb8a7433bdabcb909271a6ecbcb58b936a88cd4e\
    8f2e6ff5800175f113253d8fa9ca8885c2f552e657dc603f252e1a8e308f76f0be79e2fb8f5d5fbbe2e30ecadd220723\
    c8c0aea8078cdfcb3868263ff8f0940054da48781893a7e49ad5aff4af300cd804a6b6279ab3ff3afb64491c85194aab\
    760d58a606654f9f4400e8b38591356fbf6425aca26dc85244259ff2b19c41b9f96f3ca9ec1dde434da7d2d392b905dd\
    f3d1f9af93d1af5950bd493f5aa731b4056df31bd267b6b90a079831aaf579be0a39013137aac6d404f518cfd4684064\
    7e78bfe706ca4cf5e9c5453e9f7cfd2b8b4c8d169a44e55c88d4a9a7f9474241e221af44860018ab0856972e194cd934";
/// The server's Initial packet of RFC 9001 appendix A.3: it chooses TLS_AES_128_GCM_SHA256.
const SERVER_INITIAL: &str = "\
    cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb3\
    8cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84\
    022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee";
/// A short header packet of that client, number 7, with `hello, tshark` on stream 0, protected with the client's secret from
/// [`SECRETS`] (RFC 9001 section 5).
const CLIENT_SHORT: &str =
    "4cf067a5502a4262b58e7e9425451c342d4952d73fdfb350d2507e97c5c03055bce37a8abaed6ccffb7104";
/// The secrets of the 1-RTT level with the random number of the ClientHello in [`CLIENT_INITIAL`]. tshark needs both secrets
/// to decrypt packets of either side.
const SECRETS: &str = "\
CLIENT_TRAFFIC_SECRET_0 ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c \
000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n\
SERVER_TRAFFIC_SECRET_0 ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c \
202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn carried(client: bool, bytes: &[u8]) -> Carried<'_> {
    let (source, destination) = v4(client);
    Carried { source, destination, ecn: Ecn::NotEct, bytes }
}

fn v4(client: bool) -> (SocketAddr, SocketAddr) {
    let (client_end, server_end) = ("10.0.0.1:50000".parse().unwrap(), "10.0.1.2:443".parse().unwrap());
    if client { (client_end, server_end) } else { (server_end, client_end) }
}

/// The types and bodies of all blocks. Panics unless both lengths of each block agree and are multiples of four.
fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = word(&file[4..]) as usize;
        assert_eq!((length % 4, word(&file[length - 4..]) as usize), (0, length));
        blocks.push((word(file), &file[8..length - 4]));
        file = &file[length..];
    }
    blocks
}

#[test]
fn blocks_have_the_format_of_pcapng() {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    capture.secrets("").unwrap();
    capture.secrets("A B C").unwrap();
    let (source, destination) = v4(true);
    let now = Time::from_nanos(0x1_0000_0002);
    capture.packet(now, source, destination, 0b11, b"abcde").unwrap();
    capture.finish().unwrap();
    let blocks = blocks(&file);
    let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [SECTION_HEADER_BLOCK, INTERFACE_DESCRIPTION_BLOCK, DECRYPTION_SECRETS, ENHANCED_PACKET_BLOCK]
    );
    assert_eq!(&file[..12], [0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a]);
    assert_eq!(blocks[1].1, [101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(blocks[2].1, b"KSLT\x06\0\0\0A B C\n\0\0");
    let packet = blocks[3].1;
    assert_eq!(packet[..20], [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 33, 0, 0, 0, 33, 0, 0, 0]);
    assert_eq!(packet.len(), 20 + 36);
    let read = ip::Packet::decode(&packet[20..53]).unwrap();
    assert_eq!((read.source, read.destination, read.ecn), (source, destination, Ecn::Ce));
    assert_eq!(read.payload, b"abcde");
}

#[test]
fn packets_are_on_the_selected_interface() {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    assert_eq!(capture.interface("ap").unwrap(), 1);
    let (source, destination) = v4(true);
    for interface in [1, 0] {
        capture.select(interface);
        capture.packet(Time::ZERO, source, destination, 0, b"a").unwrap();
    }
    capture.finish().unwrap();
    let blocks = blocks(&file);
    assert_eq!((blocks[2].0, &blocks[2].1[8..16]), (INTERFACE_DESCRIPTION_BLOCK, &b"\x02\0\x02\0ap\0\0"[..]));
    assert_eq!((blocks[3].1[0], blocks[4].1[0]), (1, 0));
}

#[test]
fn an_altered_packet_has_only_headers_and_a_comment() {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    let damage = Damage { first: 7, last: 7 };
    capture.altered_packet(Time::ZERO, &carried(false, &[9; 1000]), damage).unwrap();
    capture.packet(Time::ZERO, v4(false).0, v4(false).1, 0, &[9; 2]).unwrap();
    capture.finish().unwrap();
    let blocks = blocks(&file);
    let packet = blocks[2].1;
    // 28 of 1028 bytes are captured.
    assert_eq!(packet[12..20], [28, 0, 0, 0, 4, 4, 0, 0]);
    let comment = b"altered in transit: byte 7 of the UDP payload";
    assert_eq!(packet[48..52], [1, 0, comment.len() as u8, 0]);
    assert_eq!(&packet[52..52 + comment.len()], comment);
    assert_eq!(packet[52 + comment.len()..], [0; 7]);
    assert_eq!(blocks.len(), 4);
}

#[test]
fn packets_before_an_altered_one_are_kept() {
    let (first, second) = (bytes(SERVER_INITIAL), bytes(CLIENT_SHORT));
    let datagram = [first.clone(), second.clone()].concat();
    let end = first.len();
    for (at, kept) in [(0, 0), (end - 1, 0), (end, end), (datagram.len() - 1, end)] {
        let mut altered = datagram.clone();
        altered[at] ^= 0x10;
        let damage = Damage { first: at as u32, last: at as u32 };
        assert_eq!(before_damage(&altered, damage), kept, "{at}");
    }
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    let damage = Damage { first: end as u32, last: end as u32 + 1 };
    capture.altered_packet(Time::ZERO, &carried(false, &datagram), damage).unwrap();
    capture.finish().unwrap();
    let packet = blocks(&file)[2].1;
    assert_eq!(packet[20 + 28..20 + 28 + end], first);
    assert_eq!(packet[12] as usize, 28 + end);
    assert_eq!(packet[20 + (28 + end).next_multiple_of(4)], 1, "the comment follows on 32 bits");
}

#[test]
fn tshark_decrypts_packets_after_an_altered_one() {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    let mut put = |at: u64, client: bool, hex: &str, secret: &str| {
        let (source, destination) = v4(client);
        capture.secrets(secret).unwrap();
        capture.packet(Time::from_nanos(at), source, destination, 0, &bytes(hex)).unwrap();
    };
    put(1, true, CLIENT_INITIAL, "");
    put(2, false, SERVER_INITIAL, SECRETS);
    // The first byte of a packet with another key phase and a longer packet number.
    let mut altered = bytes(CLIENT_SHORT);
    altered[0] ^= 7;
    let damage = Damage { first: 0, last: 0 };
    capture.altered_packet(Time::from_nanos(3), &carried(true, &altered), damage).unwrap();
    let mut put = |at: u64, client: bool, hex: &str| {
        let (source, destination) = v4(client);
        capture.packet(Time::from_nanos(at), source, destination, 0, &bytes(hex)).unwrap();
    };
    put(4, true, CLIENT_SHORT);
    capture.finish().unwrap();
    let fields = ["-T", "fields", "-E", "separator=,", "-e", "frame.comment", "-e", "quic.packet_number"];
    let Some(shown) = tshark("altered", &file, &fields) else { return };
    assert_eq!(shown, ",2\n,1\naltered in transit: byte 0 of the UDP payload,\n,7\n");
    let Some(shown) = tshark("altered_malformed", &file, &["-Y", "_ws.malformed"]) else { return };
    assert_eq!(shown, "");
}

#[test]
fn datagrams_too_large_for_ip_are_refused() {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    let (source, destination) = v4(true);
    let other = "[2001:db8::1]:443".parse().unwrap();
    for (destination, size) in [(other, 10), (destination, 65_508)] {
        let error = capture.packet(Time::ZERO, source, destination, 0, &vec![0; size]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
    capture.packet(Time::ZERO, source, destination, 0, &[0; 65_507]).unwrap();
    capture.finish().unwrap();
    assert_eq!(blocks(&file).len(), 3);
}

#[derive(Debug)]
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_a_lasting_error() {
    assert_eq!(Capture::new(Full(10)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    let mut capture = Capture::new(Full(300_000)).unwrap();
    let (source, destination) = v4(false);
    let mut put = || capture.packet(Time::ZERO, source, destination, 0, &[0; 1200]);
    let error = (0..1000).find_map(|_| put().err()).expect("an error");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(put().unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(capture.secrets("A B C").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(capture.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
}

proptest! {
    #[test]
    fn every_packet_is_in_the_file(
        packets in prop::collection::vec((any::<u64>(), any::<bool>(), 0usize..1500, any::<u8>()), 0..200),
    ) {
        let mut file = Vec::new();
        let mut capture = Capture::new(&mut file).unwrap();
        let v6: (SocketAddr, SocketAddr) = ("[2001:db8::1]:1".parse().unwrap(), "[2001:db8::2]:2".parse().unwrap());
        for (time, is_v6, size, ecn) in &packets {
            let (source, destination) = if *is_v6 { v6 } else { v4(true) };
            capture.packet(Time::from_nanos(*time), source, destination, *ecn, &vec![*ecn; *size]).unwrap();
        }
        capture.finish().unwrap();
        let blocks = blocks(&file);
        prop_assert_eq!(blocks.len(), packets.len() + 2);
        for ((_, body), (time, is_v6, size, ecn)) in blocks[2..].iter().zip(&packets) {
            let word = |at: usize| u64::from(u32::from_le_bytes(body[at..at + 4].try_into().unwrap()));
            prop_assert_eq!(word(4) << 32 | word(8), *time);
            let read = ip::Packet::decode(&body[20..20 + word(12) as usize]).unwrap();
            prop_assert_eq!((read.source.is_ipv6(), read.payload.len()), (*is_v6, *size));
            prop_assert_eq!(read.ecn, Ecn::from_bits(*ecn));
        }
    }
}

/// Runs tshark over a capture in one pass. Without tshark it prints a warning and returns `None`, or fails under CI.
pub(super) fn tshark(name: &str, file: &[u8], arguments: &[&str]) -> Option<String> {
    let path = std::env::temp_dir().join(format!("quiclab-{}-{name}.pcapng", std::process::id()));
    std::fs::write(&path, file).unwrap();
    let run = Command::new("tshark").arg("-r").arg(&path).args(arguments).output();
    std::fs::remove_file(&path).unwrap();
    match run {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "tshark is needed: {error}");
            // Written directly, since the test harness hides the output of passing tests.
            let _ = writeln!(io::stderr(), "NOT TESTED: capture::tests::{name} needs tshark, and: {error}");
            None
        }
    }
}

/// A capture of both Initial packets, the secrets, and a packet that needs them.
fn connection() -> Vec<u8> {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file).unwrap();
    let mut put = |at: u64, client: bool, hex: &str, secret: &str| {
        let (source, destination) = v4(client);
        capture.secrets(secret).unwrap();
        capture.packet(Time::from_nanos(at), source, destination, 0b10, &bytes(hex)).unwrap();
    };
    put(1, true, CLIENT_INITIAL, "");
    put(20_000_002, false, SERVER_INITIAL, "");
    put(40_000_003, true, CLIENT_SHORT, SECRETS);
    capture.finish().unwrap();
    file
}

#[test]
fn tshark_decrypts_a_packet_with_secrets_in_the_middle_of_the_file() {
    let fields = [
        "frame.time_epoch",
        "ip.dsfield.ecn",
        "tls.handshake.type",
        "quic.packet_number",
        "quic.stream_data",
    ];
    let fields = fields.iter().flat_map(|field| ["-e", field]);
    let arguments: Vec<&str> = ["-T", "fields", "-E", "separator=,"].into_iter().chain(fields).collect();
    let Some(shown) = tshark("secrets_in_the_middle", &connection(), &arguments) else { return };
    let hello: String = b"hello, tshark".iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = format!("0.000000001,2,1,2,\n0.020000002,2,2,1,\n0.040000003,2,,7,{hello}\n");
    assert_eq!(shown, expected);
}

#[test]
fn tshark_finds_valid_packets_and_checksums() {
    let wrong = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || _ws.expert.severity >= 6291456";
    let preferences = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-Y", wrong];
    let Some(shown) = tshark("nothing_malformed", &connection(), &preferences) else { return };
    assert_eq!(shown, "");
}

//! The examples of RFC 9369 appendix A, run with the keys that protect packets of version 2.

use crate::derive::expand_label;
use crate::keys::{DirectionalKeys, Opener, Sealer, TAG_LENGTH};
use crate::rfc9001::{CLIENT_CRYPTO, ID, SERVER_PAYLOAD, hex, open, seal, suite};
use crate::{Protection, Side, initial_keys, retry_integrity_tag};
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::ring::cipher_suite;
use rustls::crypto::tls13::OkmBlock;

const VERSION: u32 = 0x6b33_43cf;

#[test]
fn a_1_keys() {
    let aes = suite(cipher_suite::TLS13_AES_128_GCM_SHA256);
    let salt = hex("0dede3def700a6db819381be6e269dcbf9bd2ed9");
    let initial = aes.hkdf_provider.extract_from_secret(Some(&salt), &hex(ID));
    for (label, secret, key, iv, hp) in [
        (
            "client in",
            "14ec9d6eb9fd7af83bf5a668bc17a7e283766aade7ecd0891f70f9ff7f4bf47b",
            "8b1a0bc121284290a29e0971b5cd045d",
            "91f73e2351d8fa91660e909f",
            "45b95e15235d6f45a6b19cbcb0294ba9",
        ),
        (
            "server in",
            "0263db1782731bf4588e7e4d93b7463907cb8cd8200b5da55a8bd488eafc37c1",
            "82db637861d55e1d011f19ea71d5d2a7",
            "dd13c276499c0249d3310652",
            "edf6d05c83121201b436e16877593c3a",
        ),
    ] {
        let own = expand_label(initial.as_ref(), label, 32);
        assert_eq!(own, hex(secret));
        let own = aes.hkdf_provider.expander_for_okm(&OkmBlock::new(&own));
        assert_eq!(expand_label(own.as_ref(), "quicv2 key", 16), hex(key));
        assert_eq!(expand_label(own.as_ref(), "quicv2 iv", 12), hex(iv));
        assert_eq!(expand_label(own.as_ref(), "quicv2 hp", 16), hex(hp));
    }
}

#[test]
fn a_2_client_initial() {
    let client = initial_keys(Protection::Tls, VERSION, &hex(ID), Side::Client);
    let server = initial_keys(Protection::Tls, VERSION, &hex(ID), Side::Server);
    let header = hex("d36b3343cf088394c8f03e5157080000449e00000002");
    let mut payload = hex(CLIENT_CRYPTO);
    payload.resize(1162, 0);
    let packet = seal(&client.local, 2, &header, 4, &payload);
    assert_eq!(packet, hex(CLIENT_INITIAL));
    assert_eq!(open(&server.remote, 2, &packet, 18), (header, payload));
}

#[test]
fn a_3_server_initial() {
    let client = initial_keys(Protection::Tls, VERSION, &hex(ID), Side::Client);
    let server = initial_keys(Protection::Tls, VERSION, &hex(ID), Side::Server);
    let header = hex("d16b3343cf0008f067a5502a4262b50040750001");
    let payload = hex(SERVER_PAYLOAD);
    let packet = seal(&server.local, 1, &header, 2, &payload);
    assert_eq!(packet, hex(SERVER_INITIAL));
    assert_eq!(open(&client.remote, 1, &packet, 18), (header, payload));
}

#[test]
fn a_4_retry() {
    let retry = hex("cf6b3343cf0008f067a5502a4262b5746f6b656ec8646ce8bfe33952d955543665dcc7b6");
    let (packet, tag) = retry.split_at(retry.len() - TAG_LENGTH);
    assert_eq!(retry_integrity_tag(VERSION, &hex(ID), packet), tag);
}

#[test]
fn a_5_chacha20_poly1305_short_header() {
    let chacha = suite(cipher_suite::TLS13_CHACHA20_POLY1305_SHA256);
    let secret = hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
    let secret = chacha.hkdf_provider.expander_for_okm(&OkmBlock::new(&secret));
    let key: [u8; 32] = expand_label(secret.as_ref(), "quicv2 key", 32).try_into().unwrap();
    let iv: [u8; 12] = expand_label(secret.as_ref(), "quicv2 iv", 12).try_into().unwrap();
    let hp: [u8; 32] = expand_label(secret.as_ref(), "quicv2 hp", 32).try_into().unwrap();
    assert_eq!(key[..], hex("3bfcddd72bcf02541d7fa0dd1f5f9eeea817e09a6963a0e6c7df0f9a1bab90f2"));
    assert_eq!(iv[..], hex("a6b5bc6ab7dafce30ffff5dd"));
    assert_eq!(hp[..], hex("d659760d2ba434a226fd37b35c69e2da8211d10c4f12538787d65645d5d1b8e2"));
    let next = expand_label(secret.as_ref(), "quicv2 ku", 32);
    assert_eq!(next, hex("c69374c49e3d2a9466fa689e49d476db5d0dfbc87d32ceeaa6343fd0ae4c7d88"));

    let quic = chacha.quic.unwrap();
    let keys = || {
        let header = quic.header_protection_key(AeadKey::from(hp));
        DirectionalKeys::new(header, quic.packet_key(AeadKey::from(key), Iv::from(iv)))
    };
    let packet = seal(&Sealer::Tls(keys()), 654_360_564, &hex("4200bff4"), 3, &[0x01]);
    assert_eq!(packet, hex("5558b1c60ae7b6b932bc27d786f4bc2bb20f2162ba"));
    assert_eq!(open(&Opener::Tls(keys()), 654_360_564, &packet, 1), (hex("4200bff4"), vec![0x01]));
}

const CLIENT_INITIAL: &str = "\
d76b3343cf088394c8f03e5157080000 449ea0c95e82ffe67b6abcdb4298b485\
dd04de806071bf03dceebfa162e75d6c 96058bdbfb127cdfcbf903388e99ad04\
9f9a3dd4425ae4d0992cfff18ecf0fdb 5a842d09747052f17ac2053d21f57c5d\
250f2c4f0e0202b70785b7946e992e58 a59ac52dea6774d4f03b55545243cf1a\
12834e3f249a78d395e0d18f4d766004 f1a2674802a747eaa901c3f10cda5500\
cb9122faa9f1df66c392079a1b40f0de 1c6054196a11cbea40afb6ef5253cd68\
18f6625efce3b6def6ba7e4b37a40f77 32e093daa7d52190935b8da58976ff33\
12ae50b187c1433c0f028edcc4c2838b 6a9bfc226ca4b4530e7a4ccee1bfa2a3\
d396ae5a3fb512384b2fdd851f784a65 e03f2c4fbe11a53c7777c023462239dd\
6f7521a3f6c7d5dd3ec9b3f233773d4b 46d23cc375eb198c63301c21801f6520\
bcfb7966fc49b393f0061d974a2706df 8c4a9449f11d7f3d2dcbb90c6b877045\
636e7c0c0fe4eb0f697545460c806910 d2c355f1d253bc9d2452aaa549e27a1f\
ac7cf4ed77f322e8fa894b6a83810a34 b361901751a6f5eb65a0326e07de7c12\
16ccce2d0193f958bb3850a833f7ae43 2b65bc5a53975c155aa4bcb4f7b2c4e5\
4df16efaf6ddea94e2c50b4cd1dfe060 17e0e9d02900cffe1935e0491d77ffb4\
fdf85290fdd893d577b1131a610ef6a5 c32b2ee0293617a37cbb08b847741c3b\
8017c25ca9052ca1079d8b78aebd4787 6d330a30f6a8c6d61dd1ab5589329de7\
14d19d61370f8149748c72f132f0fc99 f34d766c6938597040d8f9e2bb522ff9\
9c63a344d6a2ae8aa8e51b7b90a4a806 105fcbca31506c446151adfeceb51b91\
abfe43960977c87471cf9ad4074d30e1 0d6a7f03c63bd5d4317f68ff325ba3bd\
80bf4dc8b52a0ba031758022eb025cdd 770b44d6d6cf0670f4e990b22347a7db\
848265e3e5eb72dfe8299ad7481a4083 22cac55786e52f633b2fb6b614eaed18\
d703dd84045a274ae8bfa73379661388 d6991fe39b0d93debb41700b41f90a15\
c4d526250235ddcd6776fc77bc97e7a4 17ebcb31600d01e57f32162a8560cacc\
7e27a096d37a1a86952ec71bd89a3e9a 30a2a26162984d7740f81193e8238e61\
f6b5b984d4d3dfa033c1bb7e4f0037fe bf406d91c0dccf32acf423cfa1e70710\
10d3f270121b493ce85054ef58bada42 310138fe081adb04e2bd901f2f13458b\
3d6758158197107c14ebb193230cd115 7380aa79cae1374a7c1e5bbcb80ee23e\
06ebfde206bfb0fcbc0edc4ebec30966 1bdd908d532eb0c6adc38b7ca7331dce\
8dfce39ab71e7c32d318d136b6100671 a1ae6a6600e3899f31f0eed19e3417d1\
34b90c9058f8632c798d4490da498730 7cba922d61c39805d072b589bd52fdf1\
e86215c2d54e6670e07383a27bbffb5a ddf47d66aa85a0c6f9f32e59d85a44dd\
5d3b22dc2be80919b490437ae4f36a0a e55edf1d0b5cb4e9a3ecabee93dfc6e3\
8d209d0fa6536d27a5d6fbb17641cde2 7525d61093f1b28072d111b2b4ae5f89\
d5974ee12e5cf7d5da4d6a31123041f3 3e61407e76cffcdcfd7e19ba58cf4b53\
6f4c4938ae79324dc402894b44faf8af bab35282ab659d13c93f70412e85cb19\
9a37ddec600545473cfb5a05e08d0b20 9973b2172b4d21fb69745a262ccde96b\
a18b2faa745b6fe189cf772a9f84cbfc";

const SERVER_INITIAL: &str = "\
dc6b3343cf0008f067a5502a4262b500 4075d92faaf16f05d8a4398c47089698\
baeea26b91eb761d9b89237bbf872630 17915358230035f7fd3945d88965cf17\
f9af6e16886c61bfc703106fbaf3cb4c fa52382dd16a393e42757507698075b2\
c984c707f0a0812d8cd5a6881eaf21ce da98f4bd23f6fe1a3e2c43edd9ce7ca8\
4bed8521e2e140";

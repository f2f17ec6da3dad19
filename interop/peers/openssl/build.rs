//! Builds OpenSSL from the sources that the crate openssl-src brings (perl, make, a C compiler), and links it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    openssl_src::Build::new().build().print_cargo_metadata();
}

//! Enums whose variants are words.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Variant};

/// The implementation of `Choice` for an enum.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream, Error> {
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(name, "a choice is an enum"));
    };
    let mut words: Vec<LitStr> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a word of a choice has no fields"));
        }
        let word = word(variant)?;
        if words.iter().any(|known| known.value() == word.value()) {
            return Err(Error::new_spanned(variant, format!("{:?} stands twice", word.value())));
        }
        words.push(word);
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    Ok(quote! {
        impl ::units::parameter::Choice for #name {
            const WORDS: &'static [&'static str] = &[#(#words),*];
            fn of_word(word: &str) -> ::core::option::Option<Self> {
                match word {
                    #(#words => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }
            fn word(&self) -> &'static str {
                match self {
                    #(Self::#variants => #words,)*
                }
            }
        }
        impl ::units::parameter::Accepted for #name {
            const KIND: ::units::parameter::Kind =
                ::units::parameter::Kind::Choice(<Self as ::units::parameter::Choice>::WORDS);
            fn accept(value: &::units::parameter::Value) -> ::core::option::Option<Self> {
                match value {
                    ::units::parameter::Value::Text(word) => <Self as ::units::parameter::Choice>::of_word(word),
                    _ => ::core::option::Option::None,
                }
            }
        }
    })
}

/// The word of a variant: stated, or its name in kebab case.
fn word(variant: &Variant) -> Result<LitStr, Error> {
    if let Some(stated) = variant.attrs.iter().find(|attribute| attribute.path().is_ident("word")) {
        return stated.parse_args();
    }
    let mut word = String::new();
    for letter in variant.ident.to_string().chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    Ok(LitStr::new(&word, variant.ident.span()))
}

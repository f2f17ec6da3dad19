//! Structs whose fields are options.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprRange, ExprUnary, Field, Fields, GenericArgument, Lit,
    LitStr, Meta, PathArguments, RangeLimits, Type, UnOp,
};

const RANGE: &str = "a range has two ends: 1..=10";

/// The implementation of `Options` for a struct.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream, Error> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "options are the fields of a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "options have names"));
    };
    let (mut parts, mut readers, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for field in &fields.named {
        let (part, reader) = match attribute(field, "options") {
            Some(group) => of_group(field, group)?,
            None => {
                let stated = Stated::of(field)?;
                if !stated.skip {
                    keys.push(key(field, &stated)?);
                }
                of_option(field, &stated)?
            }
        };
        parts.push(part);
        let ident = &field.ident;
        readers.push(quote!(#ident: #reader));
    }
    Ok(quote! {
        #[allow(dead_code)]
        impl #name {
            #(#keys)*
        }
        impl ::units::parameter::Options for #name {
            const PARAMETERS: &'static [::units::parameter::Parameter] = {
                const PARTS: &[&[::units::parameter::Parameter]] = &[#(#parts),*];
                const ALL: [::units::parameter::Parameter; ::units::parameter::count(PARTS)] =
                    ::units::parameter::join(PARTS);
                &ALL
            };
            fn of(arguments: &::units::parameter::Arguments) -> Self {
                Self { #(#readers),* }
            }
        }
    })
}

/// The attribute of a field with this name.
fn attribute<'a>(field: &'a Field, name: &str) -> Option<&'a Attribute> {
    field.attrs.iter().find(|attribute| attribute.path().is_ident(name))
}

/// The options of a group, with other defaults and without those of a fixed value, and their reader.
fn of_group(field: &Field, group: &Attribute) -> Result<(TokenStream, TokenStream), Error> {
    let of = &field.ty;
    let (mut defaults, mut fixed) = (Vec::new(), Vec::new());
    let stated = |meta: &ParseNestedMeta| {
        let option = meta.path.require_ident()?.to_string();
        let value = literal(&meta.value()?.parse()?)?;
        Ok::<_, Error>(quote!((#option, #value)))
    };
    if !matches!(group.meta, Meta::Path(_)) {
        group.parse_nested_meta(|meta| {
            if meta.path.is_ident("fixed") {
                return meta.parse_nested_meta(|meta| {
                    fixed.push(stated(&meta)?);
                    Ok(())
                });
            }
            defaults.push(stated(&meta)?);
            Ok(())
        })?;
    }
    let table = quote!(<#of as ::units::parameter::Options>::PARAMETERS);
    if defaults.is_empty() && fixed.is_empty() {
        return Ok((table, quote!(<#of as ::units::parameter::Options>::of(arguments))));
    }
    let count = fixed.len();
    let part = quote! {{
        const FIXED: &[(&str, &str)] = &[#(#fixed),*];
        const LEFT: [::units::parameter::Parameter; #table.len() - #count] =
            ::units::parameter::without(#table, FIXED);
        const OWN: [::units::parameter::Parameter; LEFT.len()] =
            ::units::parameter::with_defaults(&LEFT, &[#(#defaults),*]);
        &OWN
    }};
    let reader = match count {
        0 => quote!(<#of as ::units::parameter::Options>::of(arguments)),
        _ => quote! {
            <#of as ::units::parameter::Options>::of(&arguments.with_fixed(#table, &[#(#fixed),*]))
        },
    };
    Ok((part, reader))
}

/// What the attribute of an option says.
#[derive(Default)]
struct Stated {
    default: Option<Expr>,
    within: Option<ExprRange>,
    probability: bool,
    room: Option<Expr>,
    example: Option<Expr>,
    name: Option<LitStr>,
    skip: bool,
}

impl Stated {
    fn of(field: &Field) -> Result<Stated, Error> {
        let mut stated = Stated::default();
        if let Some(attribute) = attribute(field, "option") {
            attribute.parse_nested_meta(|meta| stated.read(&meta))?;
        }
        Ok(stated)
    }

    fn read(&mut self, meta: &ParseNestedMeta) -> Result<(), Error> {
        match meta.path.require_ident()?.to_string().as_str() {
            "default" => self.default = Some(meta.value()?.parse()?),
            "within" => match meta.value()?.parse()? {
                Expr::Range(range) => self.within = Some(range),
                other => return Err(Error::new_spanned(other, RANGE)),
            },
            "probability" => self.probability = true,
            "room" => self.room = Some(meta.value()?.parse()?),
            "example" => self.example = Some(meta.value()?.parse()?),
            "name" => self.name = Some(meta.value()?.parse()?),
            "skip" => self.skip = true,
            _ => {
                let known = "expected default, within, probability, room, example, name or skip";
                return Err(meta.error(known));
            }
        }
        Ok(())
    }

    /// The name of the option of a field.
    fn name_of(&self, field: &Field) -> Result<String, Error> {
        match (&self.name, &field.ident) {
            (Some(name), _) => Ok(name.value()),
            (None, Some(ident)) => Ok(ident.to_string()),
            (None, None) => Err(Error::new_spanned(field, "options have names")),
        }
    }

    /// The kind of an option of this type.
    fn kind(&self, of: &Type) -> Result<TokenStream, Error> {
        if let Some(inner) = argument(of, "Option") {
            return self.kind(inner);
        }
        if let Some(inner) = argument(of, "Vec") {
            if let Type::Tuple(pair) = inner {
                let (Some(first), Some(second), 2) =
                    (pair.elems.first(), pair.elems.last(), pair.elems.len())
                else {
                    return Err(Error::new_spanned(pair, "a list has values or pairs"));
                };
                let (first, second) = (Stated::default().kind(first)?, self.kind(second)?);
                return Ok(quote!(::units::parameter::Kind::Pairs(&#first, &#second)));
            }
            let inner = self.kind(inner)?;
            return Ok(quote!(::units::parameter::Kind::List(&#inner)));
        }
        let mut stated = Vec::new();
        if let Some(range) = &self.within {
            stated.push(within(range, of)?);
        }
        if self.probability {
            stated.push(quote!(::units::parameter::Kind::Probability));
        }
        if let Some(room) = &self.room {
            stated.push(quote!(::units::parameter::Kind::Component(#room)));
        }
        if let Some(example) = &self.example {
            stated.push(quote!(::units::parameter::Kind::File(#example)));
        }
        match stated.len() {
            0 => Ok(quote!(<#of as ::units::parameter::Accepted>::KIND)),
            1 => Ok(stated.swap_remove(0)),
            _ => Err(Error::new_spanned(of, "one of within, probability, room and example")),
        }
    }
}

/// The key of a field's option: a constant with the name of the field, as visible as the field.
fn key(field: &Field, stated: &Stated) -> Result<TokenStream, Error> {
    let (visible, of) = (&field.vis, argument(&field.ty, "Option"));
    let of = of.unwrap_or(&field.ty);
    let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "options have names"))?;
    let constant = Ident::new(&ident.to_string().to_uppercase(), ident.span());
    let (name, about) = (stated.name_of(field)?, sentence(field)?);
    Ok(quote! {
        #[doc = #about]
        #visible const #constant: ::units::parameter::Key<#of> = ::units::parameter::Key::new(#name);
    })
}

/// The option of a field, and its reader.
fn of_option(field: &Field, stated: &Stated) -> Result<(TokenStream, TokenStream), Error> {
    let of = &field.ty;
    if stated.skip {
        return Ok((quote!(&[]), quote!(::core::default::Default::default())));
    }
    let name = stated.name_of(field)?;
    let about = sentence(field)?;
    let kind = stated.kind(of)?;
    let may_be_absent = argument(of, "Option").is_some();
    let default = match &stated.default {
        Some(default) if may_be_absent => {
            return Err(Error::new_spanned(default, "an option with a default is never absent"));
        }
        Some(default) => {
            let default = literal(default)?;
            quote!(::units::parameter::Default::Is(#default))
        }
        None if may_be_absent => quote!(::units::parameter::Default::Absent),
        None => quote!(::units::parameter::Default::Required),
    };
    let part = quote!(&[::units::parameter::Parameter {
        name: #name,
        kind: #kind,
        default: #default,
        about: #about,
    }]);
    let reader = match argument(of, "Option") {
        Some(inner) => quote!(arguments.accepted::<#inner>(#name)),
        None => quote!(arguments.required::<#of>(#name)),
    };
    Ok((part, reader))
}

/// The only argument of a generic type with this name.
fn argument<'a>(of: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if last.ident == name => match arguments.args.first()? {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// The kind of numbers of this type within a range.
fn within(range: &ExprRange, of: &Type) -> Result<TokenStream, Error> {
    let (Some(from), Some(to), RangeLimits::Closed(_)) = (&range.start, &range.end, &range.limits) else {
        return Err(Error::new_spanned(range, RANGE));
    };
    let is_float = matches!(of, Type::Path(path) if path.path.is_ident("f64"));
    Ok(match is_float {
        true => quote!(::units::parameter::Kind::Number(#from, #to)),
        false => quote!(::units::parameter::Kind::Integer(#from, #to)),
    })
}

/// A default as TOML.
fn literal(value: &Expr) -> Result<String, Error> {
    let problem = "a default is a TOML literal: a text, a number, true, false, or a list of these";
    match value {
        Expr::Lit(literal) => match &literal.lit {
            // Without the underscores.
            Lit::Int(number) => Ok(number.base10_digits().to_owned()),
            Lit::Str(_) | Lit::Bool(_) | Lit::Float(_) => Ok(literal.to_token_stream().to_string()),
            _ => Err(Error::new_spanned(value, problem)),
        },
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr: number, .. }) => match &**number {
            Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)) => {
                Ok(format!("-{}", literal.to_token_stream()))
            }
            _ => Err(Error::new_spanned(value, problem)),
        },
        Expr::Array(array) => {
            let items = array.elems.iter().map(literal).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("[{}]", items.join(", ")))
        }
        _ => Err(Error::new_spanned(value, problem)),
    }
}

/// The doc comment of a field as one line.
fn sentence(field: &Field) -> Result<String, Error> {
    let mut lines = Vec::new();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let Meta::NameValue(doc) = &attribute.meta
            && let Expr::Lit(text) = &doc.value
            && let Lit::Str(line) = &text.lit
        {
            lines.push(line.value().trim().to_owned());
        }
    }
    match lines.is_empty() {
        true => Err(Error::new(field.span(), "an option has a doc comment: the sentence about it")),
        false => Ok(lines.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of a struct that does not compile.
    fn problem(text: &str) -> String {
        derive(&syn::parse_str(text).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_errors_of_the_compiler() {
        for (text, expected) in [
            ("enum A { B }", "options are the fields of a struct"),
            ("struct A(u64);", "options have names"),
            ("struct A { b: u64 }", "an option has a doc comment: the sentence about it"),
            (
                "struct A { /** b */ #[option(defualt = 1)] b: u64 }",
                "expected default, within, probability, room, example, name or skip",
            ),
            (
                "struct A { /** b */ #[option(default = 1)] b: Option<u64> }",
                "an option with a default is never absent",
            ),
            (
                "struct A { /** b */ #[option(default = x)] b: u64 }",
                "a default is a TOML literal: a text, a number, true, false, or a list of these",
            ),
            (
                "struct A { /** b */ #[option(default = -true)] b: bool }",
                "a default is a TOML literal: a text, a number, true, false, or a list of these",
            ),
            ("struct A { /** b */ #[option(within = 1..)] b: u64 }", "a range has two ends: 1..=10"),
            (
                "struct A { /** b */ #[option(within = 1..=2, probability)] b: f64 }",
                "one of within, probability, room and example",
            ),
            ("struct A { /** b */ b: Vec<(u64, u64, u64)> }", "a list has values or pairs"),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
    }

    #[test]
    fn defaults_are_written_as_toml() {
        for (rust, toml) in [
            ("\"15 ms\"", "\"15 ms\""),
            ("0.125", "0.125"),
            ("2.0", "2.0"),
            ("-0.5", "-0.5"),
            ("true", "true"),
            ("[]", "[]"),
            ("[ \"a\",1 ]", "[\"a\", 1]"),
        ] {
            assert_eq!(literal(&syn::parse_str(rust).unwrap()).unwrap(), toml);
        }
    }
}

//! A strict validator of JSON values against the subset of CDDL (RFC 8610) used by the schemas beside it.
//!
//! Maps are closed, floats must be written as floats, integers must fit their size. Unsupported constructs panic, so
//! that no rule is skipped silently.

use serde_json::Value;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

/// A schema.
pub(crate) struct Schema {
    rules: BTreeMap<String, Type>,
}

/// The alternatives of a type.
type Type = Vec<Single>;

enum Single {
    /// A literal text.
    Word(String),
    /// Another rule, or a name of the prelude.
    Name(String),
    Sized(String, u32),
    Pattern(String),
    Map(Vec<Member>),
    List {
        least: usize,
        most: usize,
        item: Type,
    },
}

struct Member {
    name: String,
    is_optional: bool,
    value: Type,
}

impl Schema {
    pub(crate) fn parse(text: &str) -> Schema {
        let mut tokens = tokens(text).into_iter().peekable();
        let mut rules = BTreeMap::new();
        while let Some(name) = tokens.next() {
            expect(&mut tokens, "=");
            let value = parse_type(&mut tokens);
            assert!(rules.insert(name.clone(), value).is_none(), "{name} is defined twice");
        }
        Schema { rules }
    }

    /// Returns an error if a value is not an instance of a rule.
    pub(crate) fn check(&self, rule: &str, value: &Value) -> Result<(), String> {
        let alternatives = self.rules.get(rule).unwrap_or_else(|| panic!("no rule {rule}"));
        self.any(alternatives, value)
    }

    /// The values of `member` in the alternatives of `rule`.
    pub(crate) fn words(&self, rule: &str, member: &str) -> Vec<String> {
        let names = self.rules[rule].iter().map(|single| match single {
            Single::Name(name) => &self.rules[name][0],
            other => other,
        });
        let word = |single: &Single| match single {
            Single::Map(members) => {
                let found = members.iter().find(|entry| entry.name == member).map(|entry| &entry.value[0]);
                match found {
                    Some(Single::Word(word)) => word.clone(),
                    _ => panic!("{rule}: no word for {member}"),
                }
            }
            _ => panic!("{rule} is no choice of maps"),
        };
        names.map(word).collect()
    }

    fn any(&self, alternatives: &Type, value: &Value) -> Result<(), String> {
        let mut errors = Vec::new();
        for single in alternatives {
            match self.one(single, value) {
                Ok(()) => return Ok(()),
                Err(error) => errors.push(error),
            }
        }
        // Report the alternative that matches the largest part of the value.
        Err(errors.into_iter().max_by_key(|error| error.matches('/').count()).unwrap_or_default())
    }

    fn one(&self, single: &Single, value: &Value) -> Result<(), String> {
        let holds = |is: bool| if is { Ok(()) } else { Err(format!(": {value} does not fit")) };
        match single {
            Single::Word(word) => holds(value.as_str() == Some(word)),
            Single::Name(name) => match name.as_str() {
                "text" => holds(value.is_string()),
                "bool" => holds(value.is_boolean()),
                "uint" => holds(value.is_u64()),
                "float32" | "float64" => holds(value.is_f64()),
                _ => self.check(name, value),
            },
            Single::Sized(name, bytes) => {
                assert_eq!(name, "uint", ".size of {name}");
                holds(value.as_u64().is_some_and(|value| u128::from(value) < 1 << (8 * bytes)))
            }
            Single::Pattern(pattern) => holds(value.as_str().is_some_and(|text| fits(pattern, text))),
            Single::Map(members) => self.map(members, value),
            Single::List { least, most, item } => {
                let Value::Array(items) = value else { return holds(false) };
                if items.len() < *least || items.len() > *most {
                    return Err(format!(": {} items", items.len()));
                }
                items.iter().enumerate().try_for_each(|(at, value)| {
                    self.any(item, value).map_err(|error| format!("/{at}{error}"))
                })
            }
        }
    }

    fn map(&self, members: &[Member], value: &Value) -> Result<(), String> {
        let Value::Object(object) = value else { return Err(format!(": {value} is no map")) };
        for member in members {
            match object.get(&member.name) {
                Some(value) => {
                    self.any(&member.value, value).map_err(|error| format!("/{}{error}", member.name))?;
                }
                None if member.is_optional => {}
                None => return Err(format!(": {} is missing", member.name)),
            }
        }
        match object.keys().find(|key| !members.iter().any(|member| member.name == **key)) {
            Some(key) => Err(format!("/{key}: is not known")),
            None => Ok(()),
        }
    }
}

type Tokens = Peekable<IntoIter<String>>;

/// Names, texts with their opening quote, controls with their dot, numbers, and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next().filter(|first| *first != ';') {
            let end = match first {
                '"' => {
                    let end = rest[1..].find('"').expect("a closing quote") + 2;
                    tokens.push(rest[..end - 1].to_owned());
                    rest = rest[end..].trim_start();
                    continue;
                }
                '.' => rest[1..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest.len(), |end| end + 1),
                c if c.is_ascii_alphanumeric() => {
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
                }
                _ => 1,
            };
            if first != ',' {
                tokens.push(rest[..end].to_owned());
            }
            rest = rest[end..].trim_start();
        }
    }
    tokens
}

fn expect(tokens: &mut Tokens, sign: &str) {
    let found = tokens.next();
    assert_eq!(found.as_deref(), Some(sign));
}

fn parse_type(tokens: &mut Tokens) -> Type {
    let mut alternatives = vec![parse_single(tokens)];
    while tokens.next_if(|token| token == "/").is_some() {
        alternatives.push(parse_single(tokens));
    }
    alternatives
}

fn parse_single(tokens: &mut Tokens) -> Single {
    let token = tokens.next().expect("a type");
    if let Some(word) = token.strip_prefix('"') {
        return Single::Word(word.to_owned());
    }
    if token == "{" {
        let mut members = Vec::new();
        while tokens.next_if(|token| token == "}").is_none() {
            let is_optional = tokens.next_if(|token| token == "?").is_some();
            let name = tokens.next().expect("a name").trim_start_matches('"').to_owned();
            expect(tokens, ":");
            members.push(Member { name, is_optional, value: parse_type(tokens) });
        }
        return Single::Map(members);
    }
    if token == "[" {
        let mut bound = || tokens.next_if(|token| token.parse::<usize>().is_ok()).map(|n| n.parse().unwrap());
        let first: Option<usize> = bound();
        let (least, most) = match tokens.next().as_deref() {
            Some("*") => {
                let last = tokens.next_if(|token| token.parse::<usize>().is_ok()).map(|n| n.parse().unwrap());
                (first.unwrap_or(0), last.unwrap_or(usize::MAX))
            }
            Some("+") => (1, usize::MAX),
            other => panic!("how often? {other:?}"),
        };
        let item = parse_type(tokens);
        expect(tokens, "]");
        return Single::List { least, most, item };
    }
    match tokens.peek().map(String::as_str) {
        Some(".size") => {
            tokens.next();
            Single::Sized(token, tokens.next().and_then(|size| size.parse().ok()).expect("a size"))
        }
        Some(".regexp") => {
            tokens.next();
            assert_eq!(token, "text");
            Single::Pattern(tokens.next().expect("a pattern"))
        }
        Some(control) if control.starts_with('.') => panic!("{control} is not known"),
        _ => Single::Name(token),
    }
}

/// The two patterns in qlog.
fn fits(pattern: &str, text: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match pattern {
        "\"([0-9a-f]{2})*" => text.len().is_multiple_of(2) && is_hex(text),
        "\"crypto_error_0x1[0-9a-f][0-9a-f]" => {
            text.strip_prefix("crypto_error_0x1").is_some_and(|rest| rest.len() == 2 && is_hex(rest))
        }
        _ => panic!("pattern {pattern} is not known"),
    }
}

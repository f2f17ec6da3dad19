//! Values, the expressions and patterns that scripts write for them, and their comparison.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use units::Duration;

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Int(u64),
    Span(Duration),
    Bytes(Vec<u8>),
    Text(String),
    Word(&'static str),
    /// Present.
    Flag,
    /// Ranges of packet numbers, the largest first.
    Ranges(Vec<(u64, u64)>),
}

/// The variables of a script.
pub(crate) type Variables = BTreeMap<String, Value>;

/// A term of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    Is(Value),
    Variable(String),
}

/// A sum of terms; the flag tells whether one is added or subtracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression {
    pub(crate) first: Term,
    pub(crate) rest: Vec<(bool, Term)>,
}

/// A comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Not,
}

/// The pattern of an expected value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Any value.
    Any,
    /// This value.
    Is(Expression),
    /// Any value, which is bound to the variable.
    Bind(String),
    /// A value in this inclusive range.
    Between(Expression, Expression),
    /// A value in this relation.
    Compare(Comparison, Expression),
    /// These ranges in any order and, if the flag is set, others.
    Ranges(Vec<(Pattern, Pattern)>, bool),
    /// Present.
    Flag,
}

impl Term {
    fn value(&self, variables: &Variables) -> Option<Value> {
        match self {
            Term::Is(value) => Some(value.clone()),
            Term::Variable(name) => variables.get(name).cloned(),
        }
    }
}

impl Expression {
    #[cfg(test)]
    pub(crate) fn of(value: Value) -> Expression {
        Expression { first: Term::Is(value), rest: Vec::new() }
    }

    /// The value; `None` if a variable has none, or terms of different kinds are added. Negative differences become
    /// zero.
    pub(crate) fn value(&self, variables: &Variables) -> Option<Value> {
        self.rest.iter().try_fold(self.first.value(variables)?, |sum, (adds, term)| {
            match (sum, term.value(variables)?, adds) {
                (Value::Int(a), Value::Int(b), true) => Some(Value::Int(a.saturating_add(b))),
                (Value::Int(a), Value::Int(b), false) => Some(Value::Int(a.saturating_sub(b))),
                (Value::Span(a), Value::Span(b), true) => Some(Value::Span(a + b)),
                (Value::Span(a), Value::Span(b), false) => Some(Value::Span(a - b)),
                _ => None,
            }
        })
    }
}

/// The order of two values of the same ordered kind.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Span(a), Value::Span(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

impl Pattern {
    /// Whether a value matches. Variables are bound on the way, even if the answer is no.
    pub(crate) fn matches(&self, value: &Value, variables: &mut Variables) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::Flag => *value == Value::Flag,
            Pattern::Is(expression) => expression.value(variables).is_some_and(|is| is == *value),
            Pattern::Bind(name) => {
                variables.insert(name.clone(), value.clone());
                true
            }
            Pattern::Between(from, to) => {
                let bounds = from.value(variables).zip(to.value(variables));
                bounds.is_some_and(|(from, to)| {
                    order(&from, value).is_some_and(Ordering::is_le)
                        && order(value, &to).is_some_and(Ordering::is_le)
                })
            }
            Pattern::Compare(comparison, expression) => {
                let Some(other) = expression.value(variables) else { return false };
                let order = order(value, &other);
                match comparison {
                    Comparison::Not => *value != other,
                    Comparison::Less => order.is_some_and(Ordering::is_lt),
                    Comparison::AtMost => order.is_some_and(Ordering::is_le),
                    Comparison::Greater => order.is_some_and(Ordering::is_gt),
                    Comparison::AtLeast => order.is_some_and(Ordering::is_ge),
                }
            }
            Pattern::Ranges(expected, others) => match value {
                Value::Ranges(ranges) => {
                    (*others || expected.len() == ranges.len()) && ranges_match(expected, ranges, variables)
                }
                _ => false,
            },
        }
    }
}

/// Whether every expected range is present.
fn ranges_match(expected: &[(Pattern, Pattern)], ranges: &[(u64, u64)], variables: &mut Variables) -> bool {
    let mut open: Vec<_> = ranges.to_vec();
    expected.iter().all(|(low, high)| {
        let at = open.iter().position(|(start, end)| {
            let mut tried = variables.clone();
            let fits =
                low.matches(&Value::Int(*start), &mut tried) && high.matches(&Value::Int(*end), &mut tried);
            if fits {
                *variables = tried;
            }
            fits
        });
        at.map(|at| open.remove(at)).is_some()
    })
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Span(span) if span.is_zero() => f.write_str("0ms"),
            Value::Span(span) => f.write_str(&span.to_string().replace(' ', "")),
            Value::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Word(word) => f.write_str(word),
            Value::Flag => Ok(()),
            Value::Ranges(ranges) => {
                for (index, (start, end)) in ranges.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    if start == end { write!(f, "{start}")? } else { write!(f, "{start}..{end}")? }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: u64) -> Expression {
        Expression::of(Value::Int(value))
    }

    #[test]
    fn sums_and_differences() {
        let mut variables = Variables::new();
        variables.insert("n".to_owned(), Value::Int(5));
        let sum = Expression {
            first: Term::Variable("n".to_owned()),
            rest: vec![(true, Term::Is(Value::Int(3))), (false, Term::Is(Value::Int(1)))],
        };
        assert_eq!(sum.value(&variables), Some(Value::Int(7)));
        assert_eq!(sum.value(&Variables::new()), None);
        let mixed = Expression { rest: vec![(true, Term::Is(Value::Span(Duration::ZERO)))], ..int(1) };
        assert_eq!(mixed.value(&variables), None);
    }

    #[test]
    fn patterns_hold_and_do_not() {
        let mut variables = Variables::new();
        for (pattern, yes, no) in [
            (Pattern::Is(int(5)), 5, 6),
            (Pattern::Between(int(5), int(7)), 7, 8),
            (Pattern::Compare(Comparison::Less, int(5)), 4, 5),
            (Pattern::Compare(Comparison::AtMost, int(5)), 5, 6),
            (Pattern::Compare(Comparison::Greater, int(5)), 6, 5),
            (Pattern::Compare(Comparison::AtLeast, int(5)), 5, 4),
            (Pattern::Compare(Comparison::Not, int(5)), 4, 5),
        ] {
            assert!(pattern.matches(&Value::Int(yes), &mut variables), "{pattern:?}");
            assert!(!pattern.matches(&Value::Int(no), &mut variables), "{pattern:?}");
        }
        assert!(Pattern::Bind("x".to_owned()).matches(&Value::Int(9), &mut variables));
        assert_eq!(variables["x"], Value::Int(9));
    }

    #[test]
    fn ranges_fit_in_any_order_and_all_of_them() {
        let mut variables = Variables::new();
        let pattern = |ranges: &[(u64, u64)]| {
            let ranges = ranges.iter().map(|(a, b)| (Pattern::Is(int(*a)), Pattern::Is(int(*b))));
            Pattern::Ranges(ranges.collect(), false)
        };
        let value = Value::Ranges(vec![(5, 7), (0, 3)]);
        assert!(pattern(&[(0, 3), (5, 7)]).matches(&value, &mut variables));
        assert!(!pattern(&[(0, 3)]).matches(&value, &mut variables));
        assert!(!pattern(&[(0, 3), (5, 8)]).matches(&value, &mut variables));
        assert_eq!(value.to_string(), "5..7, 0..3");
    }
}

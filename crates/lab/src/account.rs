//! An account: two sums that are equal if nothing was lost from sight.

use network::Count;
use std::fmt;

/// A part of a sum: what it is, and how much.
pub(crate) type Term = (&'static str, u128);

/// Two sums of the same unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'a> {
    pub(crate) unit: &'static str,
    pub(crate) came: &'a [Term],
    pub(crate) went: &'a [Term],
}

/// The books of a run do not balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imbalance {
    /// The account: `link cell forward`.
    pub account: String,
    /// What came, in words and numbers.
    pub came: String,
    /// What became of it.
    pub went: String,
}

impl Account<'_> {
    /// Compares the two sums. `name` names the account.
    pub(crate) fn balance(&self, name: impl FnOnce() -> String) -> Result<(), Imbalance> {
        self.compare(name, |came, went| came == went)
    }
    /// Compares the two sums, where something may be under way in between: no more went than came.
    pub(crate) fn covers(&self, name: impl FnOnce() -> String) -> Result<(), Imbalance> {
        self.compare(name, |came, went| came >= went)
    }

    fn compare(
        &self,
        name: impl FnOnce() -> String,
        agree: impl Fn(u128, u128) -> bool,
    ) -> Result<(), Imbalance> {
        let sum = |terms: &[Term]| terms.iter().map(|(_, count)| *count).sum::<u128>();
        let (came, went) = (sum(self.came), sum(self.went));
        if agree(came, went) {
            return Ok(());
        }
        let words = |terms: &[Term], sum: u128| {
            let terms: Vec<String> = terms.iter().map(|(what, count)| format!("{count} {what}")).collect();
            format!("{sum} {} ({})", self.unit, terms.join(" + "))
        };
        Err(Imbalance { account: name(), came: words(self.came, came), went: words(self.went, went) })
    }
}

/// Compares packets and then bytes.
pub(crate) fn balance_counts(
    name: impl Fn() -> String,
    came: &[(&'static str, Count)],
    went: &[(&'static str, Count)],
) -> Result<(), Imbalance> {
    let sum =
        |terms: &[(&'static str, Count)]| terms.iter().fold(Count::default(), |sum, (_, count)| sum + *count);
    if sum(came) == sum(went) {
        return Ok(());
    }
    let part = |terms: &[(&'static str, Count)], of: fn(&Count) -> u64| -> Vec<Term> {
        terms.iter().map(|(what, count)| (*what, of(count).into())).collect()
    };
    let compare = |unit, of| Account { unit, came: &part(came, of), went: &part(went, of) }.balance(&name);
    compare("packets", |count| count.packets)?;
    compare("bytes of packets", |count| count.bytes)
}

impl fmt::Display for Imbalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Imbalance { account, came, went } = self;
        write!(f, "the books of the run do not balance: {account}: {came} came, and {went} went; ")?;
        f.write_str("this is an error of quiclab, and the results of the run cannot be trusted")
    }
}
impl std::error::Error for Imbalance {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_that_is_off_is_named_with_both_sides() {
        let count = |packets, bytes| Count { packets, bytes };
        let balance = |lost| {
            let came = [("accepted", count(10, 1000)), ("duplicated", count(1, 100))];
            let went = [("delivered", count(8, 800)), ("lost", lost)];
            balance_counts(|| "link cell forward".to_owned(), &came, &went)
        };
        assert_eq!(balance(count(3, 300)), Ok(()));
        assert_eq!(
            balance(count(2, 300)).unwrap_err().to_string(),
            "the books of the run do not balance: link cell forward: 11 packets (10 accepted + 1 duplicated) came, and \
             10 packets (8 delivered + 2 lost) went; this is an error of quiclab, and the results of the run cannot be trusted"
        );
        let bytes = balance(count(3, 301)).unwrap_err();
        assert_eq!(bytes.went, "1101 bytes of packets (800 delivered + 301 lost)");
        let whole = Account {
            unit: "bytes",
            came: &[("read", u64::MAX.into()), ("unread", 1)],
            went: &[("sent", 0)],
        };
        assert!(whole.balance(String::new).is_err(), "sums do not overflow");
    }
}

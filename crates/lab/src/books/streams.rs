//! The accounts of streams: of what each end of a flow has written, and of what has come to it.

use crate::account::{Account, Imbalance, Term};
use crate::end::EndReport;
use crate::scenario::Scenario;
use transport::StreamBooks;
use wire::Side;

const UNIT: &str = "bytes of streams";

/// Balances all accounts.
pub(super) fn balance(scenario: &Scenario, reports: &[EndReport]) -> Result<(), Imbalance> {
    let mut of_flows = vec![[None; 2]; scenario.flows.len()];
    for report in reports {
        of_flows[report.flow][usize::from(report.side == Side::Server)] = report.streams;
    }
    // A proxy acknowledges what it has not delivered yet.
    let splits =
        scenario.middleboxes().any(|(_, node)| crate::proxy::row(node.kind.component().name).is_some());
    for (flow, ends) in scenario.flows.iter().zip(&of_flows) {
        for (side, (own, peer)) in ["client", "server"].into_iter().zip([(0, 1), (1, 0)]) {
            let Some(own) = &ends[own] else { continue };
            let name = || format!("streams of {} at its {side}", flow.name);
            end(name, own)?;
            if let Some(peer) = &ends[peer] {
                between(name, own, peer, splits)?;
            }
        }
    }
    Ok(())
}

/// Balances the streams of one end.
fn end(name: impl Fn() -> String, own: &StreamBooks) -> Result<(), Imbalance> {
    let balance = |came: &[Term], went: &[Term]| Account { unit: UNIT, came, went }.balance(&name);
    let went = [("sent", own.sent.into()), ("not sent yet", own.unsent), ("never sent", own.abandoned)];
    balance(&[("written", own.written)], &went)?;
    balance(
        &[("received", own.received.into())],
        &[("read or dropped", own.consumed.into()), ("unread", own.unread.into())],
    )
}

/// Compares what one end has sent with what the other has received. What is under way is the rest.
fn between(
    name: impl Fn() -> String,
    own: &StreamBooks,
    peer: &StreamBooks,
    splits: bool,
) -> Result<(), Imbalance> {
    let most = |came: &[Term], went: &[Term]| Account { unit: UNIT, came, went }.covers(&name);
    most(&[("sent", own.sent.into())], &[("received by the peer", peer.received.into())])?;
    if splits {
        return Ok(());
    }
    most(&[("received by the peer", peer.received.into())], &[("acknowledged", own.acked.into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books() -> StreamBooks {
        StreamBooks {
            written: 100,
            sent: 70,
            unsent: 20,
            abandoned: 10,
            acked: 40,
            received: 50,
            consumed: 30,
            unread: 20,
        }
    }

    #[test]
    fn each_end_has_an_account_of_what_it_wrote_and_of_what_it_received() {
        let name = || "streams of get at its client".to_owned();
        assert_eq!(end(name, &books()), Ok(()));
        let changes: [fn(&mut StreamBooks); 7] = [
            |books| books.written += 1,
            |books| books.sent += 1,
            |books| books.unsent += 1,
            |books| books.abandoned += 1,
            |books| books.received += 1,
            |books| books.consumed += 1,
            |books| books.unread += 1,
        ];
        for change in changes {
            let mut books = books();
            change(&mut books);
            assert_eq!(end(name, &books).unwrap_err().account, name());
        }
    }

    #[test]
    fn a_peer_receives_no_more_than_was_sent_and_all_that_it_acknowledges() {
        let name = || "streams of get at its client".to_owned();
        let (own, peer) = (books(), |received| StreamBooks { received, ..books() });
        assert_eq!([40, 70].map(|received| between(name, &own, &peer(received), false)), [Ok(()), Ok(())]);
        assert!(between(name, &own, &peer(71), true).is_err());
        assert!(between(name, &own, &peer(39), false).is_err());
        assert_eq!(between(name, &own, &peer(39), true), Ok(()), "a proxy has acknowledged it");
    }
}

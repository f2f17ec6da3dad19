//! The accounts of a playback: of its time, of its stalls, and of its media.

use crate::account::{Account, Imbalance, Term};
use transport::PlaybackBooks;
use units::Duration;

/// Balances the playback of a flow.
pub(super) fn balance(flow: &str, books: &PlaybackBooks) -> Result<(), Imbalance> {
    let name = |what: &'static str| move || format!("playback of {flow}, {what}");
    let ns = |span: Duration| u128::from(span.as_nanos());
    let account = |came: &[Term], went: &[Term], what| Account { unit: "ns", came, went }.balance(name(what));
    let spans = [
        ("of start-up", ns(books.start_up)),
        ("playing", ns(books.playing)),
        ("stalled", ns(books.stalled)),
        ("without media that never come", ns(books.missing)),
        ("seeking", ns(books.seeking)),
    ];
    account(&[("from the viewer's request to the end", ns(books.whole))], &spans, "time")?;
    account(&[("of stalls by its events", ns(books.stalls))], &spans[2..4], "stalls")?;
    let by_clock = [("played by the clock", ns(books.played_by_clock))];
    let by_segment = [("played by segment", ns(books.played_by_segment))];
    if !books.is_whole {
        return Account { unit: "ns", came: &by_clock, went: &by_segment }.covers(name("media"));
    }
    account(&by_clock, &by_segment, "media")?;
    let Some(handed_over) = books.handed_over else { return Ok(()) };
    let went = [
        ("before the start", ns(books.skipped)),
        ("played", ns(books.played_by_segment)),
        ("buffered", ns(books.buffered)),
    ];
    account(&[("of complete downloads", ns(handed_over))], &went, "downloads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stalls_and_media_have_an_account_each() {
        let s = Duration::from_secs;
        let books = PlaybackBooks {
            whole: s(15),
            start_up: s(1),
            playing: s(8),
            stalled: s(2),
            missing: s(3),
            seeking: s(1),
            stalls: s(5),
            played_by_clock: s(8),
            played_by_segment: s(8),
            is_whole: true,
            handed_over: Some(s(12)),
            skipped: s(1),
            buffered: s(3),
        };
        assert_eq!(balance("film", &books), Ok(()));
        let off = |change: fn(&mut PlaybackBooks)| {
            let mut books = books;
            change(&mut books);
            balance("film", &books).unwrap_err().account
        };
        assert_eq!(off(|books| books.playing = Duration::ZERO), "playback of film, time");
        assert_eq!(off(|books| books.stalls = Duration::ZERO), "playback of film, stalls");
        assert_eq!(off(|books| books.played_by_segment = Duration::ZERO), "playback of film, media");
        assert_eq!(off(|books| books.buffered = Duration::ZERO), "playback of film, downloads");
        let holes = PlaybackBooks { is_whole: false, played_by_segment: s(7), ..books };
        assert_eq!(balance("film", &holes), Ok(()));
        let more = PlaybackBooks { played_by_segment: s(9), ..holes };
        assert_eq!(balance("film", &more).unwrap_err().account, "playback of film, media");
    }
}

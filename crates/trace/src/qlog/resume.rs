//! The data of the event CarefulResumePhaseUpdated (draft-ietf-tsvwg-careful-resume-qlog-02 section 4.1), in both schemas.

use super::json::Json;
use crate::event::ResumePhase;

/// Writes the fields of the event.
pub(super) fn resume_phase(json: &mut Json, change: &ResumePhase) {
    if let Some(old) = change.old {
        json.word("old", old);
    }
    json.word("new", change.new);
    json.open("state_data");
    json.number("pipesize", change.pipe_size);
    // Mandatory fields, before there is any such packet, too.
    let (first, last) = change.unvalidated.unwrap_or_default();
    json.number("first_unvalidated_packet", first);
    json.number("last_unvalidated_packet", last);
    json.number("congestion_window", change.window);
    if let Some(ssthresh) = change.ssthresh {
        json.number("ssthresh", ssthresh);
    }
    json.close();
    json.open("restored_data");
    json.number("saved_congestion_window", change.saved.0);
    json.span("saved_rtt", change.saved.1);
    json.close();
    if let Some(trigger) = change.trigger {
        json.word("trigger", trigger);
    }
}

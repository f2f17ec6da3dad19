//! An endpoint as its host sees it, of any stack.

use crate::{Application, Arrival, Counters, Datagram, Event, Outgoing, StreamBooks, Transmit};
use units::Time;
use wire::TypedPacket;

/// Identifies a connection of an endpoint. Slots are reused; the handle of a connection that is gone stays invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    slot: u32,
    generation: u32,
}

impl Handle {
    /// The handle of the `generation`-th connection in a slot.
    #[inline]
    pub const fn new(slot: u32, generation: u32) -> Handle {
        Handle { slot, generation }
    }
    /// The slot: a small number, unique among the connections that exist at one time.
    #[inline]
    pub fn slot(self) -> usize {
        self.slot as usize
    }
    /// The number of earlier connections in the slot.
    #[inline]
    pub fn generation(self) -> u32 {
        self.generation
    }
}

/// The connections of one address, without sockets and clocks.
///
/// A host changes it ([`Stack::connect`], [`Stack::receive`], [`Stack::wake`], calls on a connection), then drains it
/// ([`crate::serve`]), then waits until [`Stack::wake_at`].
pub trait Stack {
    /// A connection.
    type Connection: Connection + ?Sized;
    /// The parameters for opening a connection.
    type Opening;

    /// Opens a connection.
    ///
    /// # Errors
    /// One line with the reason why it cannot be opened.
    fn connect(&mut self, now: Time, opening: Self::Opening) -> Result<Handle, String>;
    /// Handles a received datagram.
    fn receive(&mut self, now: Time, datagram: Datagram<'_>);
    /// Handles a received typed packet. Returns `false`, and does nothing, if it needs the bytes: write them out, and call
    /// [`Stack::receive`].
    fn receive_typed(&mut self, _now: Time, _arrival: Arrival<'_>, _packet: &TypedPacket) -> bool {
        false
    }
    /// Writes the payload of the next datagram to send at `now`. `None` if the connection of
    /// [`Stack::next_active`] has nothing more to send; if another connection is then active, take its events and call this
    /// again.
    fn transmit(&mut self, now: Time, out: Outgoing<'_>) -> Option<Transmit>;
    /// The time of the next timer: the latest time for a call of [`Stack::wake`].
    fn wake_at(&self) -> Option<Time>;
    /// Handles expired timers.
    fn wake(&mut self, now: Time);
    /// The next connection that may have events or something to send. It stays the same until [`Stack::transmit`] returns
    /// `None` for it.
    fn next_active(&self) -> Option<Handle>;
    /// [`Stack::next_active`] with the connection itself.
    fn active(&mut self) -> Option<(Handle, &mut Self::Connection)>;
    /// The connection that sent the last datagram; `None` if it was the endpoint's own answer to a packet of no connection.
    fn sender(&self) -> Option<Handle>;
    /// Whether this existing connection sent the last datagram.
    fn has_sent(&self, handle: Handle) -> bool;
    /// A connection, unless it is gone.
    fn get(&self, handle: Handle) -> Option<&Self::Connection>;
    /// A connection for changes, unless it is gone. It becomes active.
    fn get_mut(&mut self, handle: Handle) -> Option<&mut Self::Connection>;
}

/// A connection of a [`Stack`]. To its application it is a [`crate::Transport`].
pub trait Connection {
    /// The next event for its application.
    fn poll_event(&mut self) -> Option<Event>;
    /// Notifies its application of an event.
    fn notify(&mut self, now: Time, event: &Event, application: &mut dyn Application);
    /// Notifies its application that its timer has expired.
    fn wake(&mut self, now: Time, application: &mut dyn Application);
    /// Closes the connection with a code of the application.
    fn close(&mut self, now: Time, code: u64, reason: &str);
    /// Whether it has ended for its application.
    fn is_over(&self) -> bool;
    /// Its counters and its end. `no_error` is the application's code for closing without an error.
    fn snapshot(&self, no_error: u64) -> Snapshot;
    /// Its records, if it writes any that are due, with the index of the connection on the wire: 0 unless its streams are
    /// connections of their own. What is not due may also be taken, from its log.
    fn records(&mut self) -> Option<(usize, &mut trace::Log)> {
        None
    }
    /// The TLS secrets since the last call, as lines of SSLKEYLOGFILE (RFC 9850).
    fn take_secrets(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Notifies its application of all waiting events.
    #[inline(always)]
    fn notify_all(&mut self, now: Time, application: &mut dyn Application) -> Notified {
        let mut notified = Notified::default();
        while let Some(event) = self.poll_event() {
            self.notify(now, &event, application);
            notified.any = true;
            notified.ended |= event == Event::Ended;
        }
        notified
    }
}

/// The events that an application was notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Notified {
    /// Whether there was any event.
    pub any: bool,
    /// Whether [`Event::Ended`] was among them.
    pub ended: bool,
}

/// The counters of a connection, its window, and its end.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Its counters.
    pub counters: Counters,
    /// The congestion window in bytes.
    pub window: u64,
    /// The reason for its end, if it has ended, and whether that was clean.
    pub close: Option<(String, bool)>,
    /// The books of its streams, if it keeps any.
    pub streams: Option<StreamBooks>,
}

impl<S: Stack + ?Sized> Stack for Box<S> {
    type Connection = S::Connection;
    type Opening = S::Opening;

    fn connect(&mut self, now: Time, opening: S::Opening) -> Result<Handle, String> {
        (**self).connect(now, opening)
    }
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        (**self).receive(now, datagram);
    }
    fn receive_typed(&mut self, now: Time, arrival: Arrival<'_>, packet: &TypedPacket) -> bool {
        (**self).receive_typed(now, arrival, packet)
    }
    fn transmit(&mut self, now: Time, out: Outgoing<'_>) -> Option<Transmit> {
        (**self).transmit(now, out)
    }
    fn wake_at(&self) -> Option<Time> {
        (**self).wake_at()
    }
    fn wake(&mut self, now: Time) {
        (**self).wake(now);
    }
    fn next_active(&self) -> Option<Handle> {
        (**self).next_active()
    }
    fn active(&mut self) -> Option<(Handle, &mut S::Connection)> {
        (**self).active()
    }
    fn sender(&self) -> Option<Handle> {
        (**self).sender()
    }
    fn has_sent(&self, handle: Handle) -> bool {
        (**self).has_sent(handle)
    }
    fn get(&self, handle: Handle) -> Option<&S::Connection> {
        (**self).get(handle)
    }
    fn get_mut(&mut self, handle: Handle) -> Option<&mut S::Connection> {
        (**self).get_mut(handle)
    }
}

//! An endpoint as its host sees it, whoever wrote it.

use crate::{Application, Counters, Datagram, Event, Transmit};
use units::Time;

/// A connection of an endpoint. Slots are used again; the handle of a connection that is gone leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    slot: u32,
    generation: u32,
}

impl Handle {
    /// The connection that is in a slot, the `generation`-th that is there.
    #[inline]
    pub const fn new(slot: u32, generation: u32) -> Handle {
        Handle { slot, generation }
    }
    /// The number of its slot: connections that are there at one time have different ones, and the numbers are small.
    #[inline]
    pub fn slot(self) -> usize {
        self.slot as usize
    }
    /// How many connections were in its slot before it.
    #[inline]
    pub fn generation(self) -> u32 {
        self.generation
    }
}

/// Many connections on one address, without sockets and clocks.
///
/// Three verbs: change ([`Stack::connect`], [`Stack::receive`], [`Stack::wake`], calls on a connection), drain
/// ([`crate::serve`]), wait until [`Stack::wake_at`].
pub trait Stack {
    /// A connection.
    type Connection: Connection + ?Sized;
    /// How a connection is opened.
    type Opening;

    /// Opens a connection.
    ///
    /// # Errors
    /// If it cannot be opened: one line that says why.
    fn connect(&mut self, now: Time, opening: Self::Opening) -> Result<Handle, String>;
    /// Takes a datagram.
    fn receive(&mut self, now: Time, datagram: Datagram<'_>);
    /// Makes the next datagram that is to leave at `now`, in `buffer`, which is empty. `None`: the connection of
    /// [`Stack::next_active`] has nothing more to send. If it then names another one, take its events and call this again.
    fn transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit>;
    /// When [`Stack::wake`] is to be called at the latest.
    fn wake_at(&self) -> Option<Time>;
    /// Time has passed.
    fn wake(&mut self, now: Time);
    /// The connection that is to be looked at next: one that may have events. It stays the same until [`Stack::transmit`] has
    /// nothing more from it; none is left when there are no events and nothing to send.
    fn next_active(&self) -> Option<Handle>;
    /// [`Stack::next_active`] with the connection itself.
    fn active(&mut self) -> Option<(Handle, &mut Self::Connection)>;
    /// The connection whose datagram [`Stack::transmit`] has made last; `None`: it was the endpoint's own answer to a packet of
    /// no connection.
    fn sender(&self) -> Option<Handle>;
    /// Whether that was this connection, which is there.
    fn has_sent(&self, handle: Handle) -> bool;
    /// A connection, unless it is gone.
    fn get(&self, handle: Handle) -> Option<&Self::Connection>;
    /// A connection to act on, unless it is gone. It is looked at again before the next datagrams leave.
    fn get_mut(&mut self, handle: Handle) -> Option<&mut Self::Connection>;
}

/// A connection of a [`Stack`]. Its application sees it as a [`crate::Transport`].
pub trait Connection {
    /// The next event that its application has not heard.
    fn poll_event(&mut self) -> Option<Event>;
    /// Tells its application of an event.
    fn tell(&mut self, now: Time, event: &Event, application: &mut dyn Application);
    /// Tells its application that its time has come.
    fn wake(&mut self, now: Time, application: &mut dyn Application);
    /// Closes it with a code of the application.
    fn close(&mut self, now: Time, code: u64, reason: &str);
    /// Whether it is over for its application.
    fn is_over(&self) -> bool;
    /// What it has counted, and why it ended. `no_error`: the code with which its application closes when nothing is wrong.
    fn snapshot(&self, no_error: u64) -> Snapshot;
    /// Its records, if it writes any, with the index of the connection on the wire: 0 unless its streams are connections of
    /// their own.
    fn records(&mut self) -> Option<(usize, &mut trace::Log)> {
        None
    }
    /// The secrets of TLS that were logged since the last call, as lines of SSLKEYLOGFILE (RFC 9850).
    fn take_secrets(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Tells its application all that it has not heard.
    #[inline(always)]
    fn tell_all(&mut self, now: Time, application: &mut dyn Application) -> Heard {
        let mut heard = Heard::default();
        while let Some(event) = self.poll_event() {
            self.tell(now, &event, application);
            heard.any = true;
            heard.ended |= event == Event::Ended;
        }
        heard
    }
}

/// What an application has heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// Whether there was any event.
    pub any: bool,
    /// Whether [`Event::Ended`] was among them.
    pub ended: bool,
}

/// What a connection has counted, its window, and why it ended.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Its counters.
    pub counters: Counters,
    /// The congestion window in bytes.
    pub window: u64,
    /// Why it ended, if it has, and whether that was clean.
    pub close: Option<(String, bool)>,
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
    fn transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        (**self).transmit(now, buffer)
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

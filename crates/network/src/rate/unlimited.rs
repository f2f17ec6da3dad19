//! No limit: a packet takes no time to be sent.

use super::Server;
use units::parameter::Row;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "unlimited",
    about: "transmission takes no time, and no packet ever waits",
    parameters: &[],
    build: &|_, _| Ok(Server::Unlimited),
};

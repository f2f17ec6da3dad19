//! No limit: a packet takes no time to be sent.

use super::Server;
use units::parameter::Row;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "unlimited",
    about: "packets take no time to be sent, and none ever waits",
    parameters: &[],
    build: |_, _| Ok(Server::Unlimited),
};

//! Whole runs, from scenario to results.

mod air;
mod bed;
mod bottlenecks;
mod captures;
mod completion;
mod cross_traffic;
mod equal_seeds;
mod events;
mod flows;
mod goodput;
mod interrupted;
mod late_acks;
mod laws;
mod messages;
mod origins;
#[path = "../own_folder/mod.rs"]
mod own_folder;
mod pages;
mod pep;
mod places;
mod processing;
mod protections;
mod qlog_files;
mod queues;
mod recorded;
mod resolved;
mod resume;
mod satellite;
mod stacks;
mod summary;
mod tcp;
mod tcp_connections;
mod video;
mod visits;
mod web;
mod web_pages;

//! Whole runs, from scenario to results.

mod bed;
mod bottlenecks;
mod captures;
mod cross_traffic;
mod equal_seeds;
mod events;
mod flows;
mod goodput;
mod interrupted;
mod laws;
mod messages;
mod pages;
mod places;
mod protections;
mod qlog_files;
mod queues;
mod recorded;
mod resolved;
mod stacks;
mod tcp;
mod tcp_connections;
mod visits;
mod web;
mod web_pages;

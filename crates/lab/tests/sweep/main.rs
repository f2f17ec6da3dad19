//! Whole sweeps: their runs, folders and tables.

mod bed;
mod elsewhere;
mod expansion;
mod files;
mod folder;
mod mistakes;
mod repetitions;
mod tables;

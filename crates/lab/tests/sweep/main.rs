//! Whole sweeps: their runs, their folder, their tables.

mod bed;
mod elsewhere;
mod expansion;
mod files;
mod folder;
mod mistakes;
mod repetitions;
mod tables;

//! Whole sweeps: their runs, folders and tables.

mod bed;
mod elsewhere;
mod expansion;
mod files;
mod folder;
mod mistakes;
#[path = "../own_folder/mod.rs"]
mod own_folder;
mod repetitions;
mod tables;

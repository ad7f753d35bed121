//! The desktop without its window: its build-time policy, the shell, and the program on a machine
//! without a display.

mod backend;
mod connections;
mod elsewhere;
mod installation;
mod metadata;
mod phone;
mod policy;
mod process;
mod releases;
mod restore;
mod rotation;
mod send_tap;
mod start;

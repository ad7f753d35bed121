//! The desktop without its window: the policy it is built with, the shell, and
//! the program on a machine that has no display.

mod backend;
mod connections;
mod installation;
mod policy;
mod process;
mod restore;
mod rotation;
mod send_tap;
mod start;

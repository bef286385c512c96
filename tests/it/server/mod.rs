//! The running server: what its answers and its log say, how it starts, and how it is replaced.

mod answers;
mod deployment;
mod logs;
mod restarts;
mod start_errors;
mod stop_signals;
mod store_file;

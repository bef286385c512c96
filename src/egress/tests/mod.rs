//! Checks in a made-up world: names, addresses and servers in memory, which write down whatever is
//! attempted. Nothing here opens a socket, and time passes only where everybody waits for it.

mod answers;
mod pace;
mod secure;
mod ssrf;
mod trials;
mod world;

//! Connections: TLS, HTTP/2, limits and timeouts, the fast path. Malformed HTTP/1 requests are tested
//! beside the sockets.

mod connection_limit;
mod fast_path;
mod http2_floods;
mod many_connections;
mod tls;

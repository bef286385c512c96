//! The edge of a running kurz, as strangers meet it: floods on HTTP/2, methods that nobody offers, headers
//! that name other hosts, and what an answer says about itself. Malformed requests of HTTP/1 are tested
//! where the sockets are, in `src/server/tests`.

mod answers;
mod floods;

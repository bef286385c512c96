//! Who asks from where, and how often they may: a running kurz, seen from several addresses.

mod clients;

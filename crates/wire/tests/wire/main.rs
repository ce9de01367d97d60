//! Tests of the message encoding: round trips, stable wire format, version compatibility, hostile input.

mod hostile;
mod roundtrip;
mod spelling;
mod versions;

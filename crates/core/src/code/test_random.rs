//! Pseudorandom bytes for tests of this module (`SplitMix64`).

/// A source of bytes that depends on `seed` alone.
pub(super) fn fill(seed: u64) -> impl FnMut(&mut [u8]) {
    let mut state = seed;
    move |bytes| {
        for chunk in bytes.chunks_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^= word >> 31;
            let length = chunk.len();
            chunk.copy_from_slice(&word.to_le_bytes()[..length]);
        }
    }
}

//! Unique numbers, reserved from a counter of the store in blocks.

use std::ops::Range;

use tokio::sync::Mutex;

use crate::store::{Error, Store};

/// Hands out the numbers of a reserved block.
#[derive(Debug)]
pub(super) struct IdAllocator {
    name: &'static str,
    block: i64,
    left: Mutex<Range<i64>>,
}

impl IdAllocator {
    /// Numbers of the counter `name`, reserved `block` at a time.
    pub(super) fn new(name: &'static str, block: i64) -> Self {
        Self { name, block, left: Mutex::new(0..0) }
    }

    /// `count` fresh numbers, growing but perhaps with gaps.
    pub(super) async fn take(&self, store: &Store, count: usize) -> Result<Vec<i64>, Error> {
        let mut numbers = Vec::with_capacity(count);
        let mut left = self.left.lock().await;
        while numbers.len() < count {
            if let Some(number) = left.next() {
                numbers.push(number);
            } else {
                let wanted = i64::try_from(count - numbers.len()).unwrap_or(i64::MAX);
                let block = self.block.max(wanted);
                let first = store.take_numbers(self.name, block).await?;
                *left = first..first.saturating_add(block);
            }
        }
        Ok(numbers)
    }
}

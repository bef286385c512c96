//! Group commit without I/O: which batches are written in one transaction, and what each caller is
//! answered. The writer runs the transactions and reports how they went.
//!
//! Invariants: every batch is answered once. A batch is answered as done only after its transaction was
//! committed. A batch that has to be undone does not undo others.

use std::collections::VecDeque;
use std::mem;

/// Steps after which a transaction is committed though more work is waiting.
const MOST_STEPS: usize = 4096;

/// Why a transaction was rolled back.
#[derive(Debug)]
pub enum RolledBack<A, E> {
    /// One of its batches asked for it or failed; the answer to that batch.
    ByBatch(Result<A, E>),
    /// The database could not go on.
    Lost(E),
}

/// What became of a transaction: an answer for each of its batches, now that it is committed, or why
/// it was rolled back.
pub type TransactionResult<A, E> = Result<Vec<Result<A, E>>, RolledBack<A, E>>;

/// The batches `J` that one writer has taken and not answered yet.
#[derive(Debug)]
pub struct GroupCommit<J> {
    together: Vec<J>,
    steps: usize,
    alone: VecDeque<J>,
}

impl<J> Default for GroupCommit<J> {
    fn default() -> Self {
        Self { together: Vec::new(), steps: 0, alone: VecDeque::new() }
    }
}

impl<J> GroupCommit<J> {
    /// Take a batch of so many steps.
    pub fn add(&mut self, batch: J, steps: usize) {
        self.together.push(batch);
        self.steps += steps;
    }

    /// Whether more may be added to the next transaction.
    pub fn has_room(&self) -> bool {
        self.alone.is_empty() && self.steps < MOST_STEPS
    }

    /// The batches to run in one transaction; `None` once all are answered.
    pub fn transaction(&mut self) -> Option<&[J]> {
        if self.together.is_empty() {
            self.together.extend(self.alone.pop_front());
        }
        (!self.together.is_empty()).then_some(self.together.as_slice())
    }

    /// Report how a transaction went; the batches to answer, and their answers.
    ///
    /// One batch that has to be undone takes the others with it, and each is then run again by
    /// itself. That is rare; a savepoint for each would have SQLite copy every page before it is
    /// changed, every time.
    pub fn ran<A, E: Clone>(&mut self, ran: TransactionResult<A, E>) -> Vec<(J, Result<A, E>)> {
        let batches = mem::take(&mut self.together);
        self.steps = 0;
        match ran {
            Ok(answers) => batches.into_iter().zip(answers).collect(),
            Err(RolledBack::Lost(error)) => {
                batches.into_iter().map(|batch| (batch, Err(error.clone()))).collect()
            }
            Err(RolledBack::ByBatch(answer)) if batches.len() == 1 => {
                batches.into_iter().zip([answer]).collect()
            }
            Err(RolledBack::ByBatch(_)) => {
                self.alone.extend(batches);
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Answers = Vec<(u32, Result<&'static str, &'static str>)>;

    #[test]
    fn one_that_is_undone_sends_each_of_its_group_on_its_own_way_in_their_order() {
        let mut group = GroupCommit::default();
        for batch in 1..=3 {
            group.add(batch, 1);
        }
        assert_eq!(group.transaction(), Some(&[1, 2, 3][..]));
        let none: Answers = group.ran(Err(RolledBack::ByBatch(Err("2 failed"))));
        assert_eq!(none, []);
        assert!(!group.has_room(), "nobody goes ahead of those who wait");
        assert_eq!(group.transaction(), Some(&[1][..]));
        assert_eq!(group.ran::<_, &str>(Ok(vec![Ok("one")])), [(1, Ok("one"))]);
        assert_eq!(group.transaction(), Some(&[2][..]));
        assert_eq!(
            group.ran::<&str, _>(Err(RolledBack::ByBatch(Err("failed")))),
            [(2, Err("failed"))]
        );
        assert_eq!(group.transaction(), Some(&[3][..]));
        assert_eq!(group.ran::<&str, _>(Err(RolledBack::Lost("full"))), [(3, Err("full"))]);
        assert_eq!(group.transaction(), None);
    }

    #[test]
    fn a_transaction_that_is_lost_is_lost_for_all_and_a_large_one_is_closed() {
        let mut group = GroupCommit::default();
        group.add(1, MOST_STEPS - 1);
        assert!(group.has_room());
        group.add(2, 1);
        assert!(!group.has_room());
        assert_eq!(group.transaction().map(<[_]>::len), Some(2));
        let told: Answers = group.ran(Err(RolledBack::Lost("full")));
        assert_eq!(told, [(1, Err("full")), (2, Err("full"))]);
        assert!(group.has_room());
    }
}

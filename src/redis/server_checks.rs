//! Checks the version of a Redis server.

use crate::redis::{Away, Redis};

const OLDEST: u32 = 7;

impl Redis {
    /// What should be changed on the server, a sentence each; empty for a cluster.
    pub async fn worries(&self) -> Result<Vec<&'static str>, Away> {
        Ok(worries(&self.describe().await?))
    }
}

fn worries(info: &str) -> Vec<&'static str> {
    let find = |name: &str| {
        info.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))
    };
    let mut worries = Vec::new();
    let major = find("redis_version").and_then(|version| version.split('.').next()?.parse().ok());
    if major.is_some_and(|major: u32| major < OLDEST) {
        worries.push("Redis is older than version 7: update it");
    }
    worries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_version_is_named() {
        assert!(worries("redis_version:7.2.4\r\n").is_empty());
        assert_eq!(worries("redis_version:6.2.1\r\n").len(), 1);
        assert!(worries("").is_empty(), "a cluster says nothing here");
    }
}

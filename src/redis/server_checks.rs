//! Checks the settings of a Redis server that quotas depend on.

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
    if find("maxmemory_policy").is_some_and(|policy| policy != "noeviction") {
        worries.push(
            "Redis may drop counters when its memory is full: set maxmemory-policy noeviction",
        );
    }
    if find("aof_enabled") == Some("0") {
        worries.push(
            "Redis forgets its counters when it is restarted, and limits then begin with what the \
             database knows: set appendonly yes",
        );
    }
    worries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loses_counters_is_named() {
        let good = "redis_version:7.2.4\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n";
        assert!(worries(good).is_empty());
        let bad = "redis_version:6.2.1\r\nmaxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n";
        assert_eq!(worries(bad).len(), 3);
        assert!(worries("").is_empty(), "a cluster says nothing here");
    }
}

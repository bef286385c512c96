//! Any bytes as the path of a request: no address, or one with a single spelling.

#![no_main]

use kurz_fuzz::code::path::{Place, ShortPath, parse};
use kurz_fuzz::code::{Code, WorkspaceId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|path: &str| {
    let Some(ShortPath { place, preview }) = parse(path) else { return };
    let plus = if preview { "+" } else { "" };
    let spelling = match place {
        Place::Bare { code } => {
            assert!(Code::parse(code).is_some());
            format!("/{code}{plus}")
        }
        Place::Workspace { key, workspace, code } => {
            assert!(Code::parse(code).is_some() && WorkspaceId::parse(workspace).is_some());
            assert_eq!(key, format!("{workspace}/{code}"));
            format!("/w/{key}{plus}")
        }
    };
    assert_eq!(spelling, path);
});

//! Every statement of the store in one list: a test prepares them all on both databases, and caches of
//! prepared statements are as large as the list is long.

use crate::store::driver::Sql;
use crate::store::{
    audit, claims, cleanup, clicks, copy, counters, disable, edit, health, insert, instances, keys,
    links, list_statements, locks, members, redirect_lookup, reports, row_checksum, secrets,
    sessions, users, workspaces,
};

pub(super) const ALL: &[&[Sql]] = &[
    audit::STATEMENTS,
    claims::STATEMENTS,
    cleanup::STATEMENTS,
    clicks::apply::STATEMENTS,
    clicks::log::STATEMENTS,
    clicks::month_hits::STATEMENTS,
    clicks::series::STATEMENTS,
    clicks::totals::STATEMENTS,
    copy::STATEMENTS,
    copy::tables::STATEMENTS,
    counters::STATEMENTS,
    disable::STATEMENTS,
    edit::STATEMENTS,
    health::STATEMENTS,
    insert::STATEMENTS,
    instances::STATEMENTS,
    keys::STATEMENTS,
    links::STATEMENTS,
    list_statements::STATEMENTS,
    locks::STATEMENTS,
    members::STATEMENTS,
    redirect_lookup::STATEMENTS,
    reports::STATEMENTS,
    row_checksum::STATEMENTS,
    secrets::STATEMENTS,
    sessions::STATEMENTS,
    users::STATEMENTS,
    workspaces::STATEMENTS,
];

pub(super) const COUNT: usize = count(ALL);

const fn count(mut lists: &[&[Sql]]) -> usize {
    let mut count = 0;
    while let [list, rest @ ..] = lists {
        count += list.len();
        lists = rest;
    }
    count
}

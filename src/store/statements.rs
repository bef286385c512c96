//! Every statement of the store in one list: a test prepares them all on both databases, and caches of
//! prepared statements are as large as the list is long.

use crate::store::driver::Sql;
use crate::store::{
    account_deletion, aliases, analytics_links, audit, claims, cleanup, clicks, copy, counters,
    disable, edit, events, health, insert, instances, invitations, keys, links, list_statements,
    live_rows, locks, members, pending_hosts, plans, redirect_lookup, reports, reservations,
    row_checksum, secrets, sessions, sync, tags, users, workspaces,
};

pub(super) const ALL: &[&[Sql]] = &[
    account_deletion::STATEMENTS,
    aliases::STATEMENTS,
    analytics_links::STATEMENTS,
    audit::STATEMENTS,
    claims::STATEMENTS,
    cleanup::STATEMENTS,
    clicks::apply::STATEMENTS,
    clicks::log::STATEMENTS,
    clicks::series::STATEMENTS,
    clicks::totals::STATEMENTS,
    copy::STATEMENTS,
    copy::tables::STATEMENTS,
    counters::STATEMENTS,
    disable::STATEMENTS,
    edit::STATEMENTS,
    events::blocks::STATEMENTS,
    events::log::STATEMENTS,
    events::orphans::STATEMENTS,
    events::privacy::STATEMENTS,
    events::shares::STATEMENTS,
    events::sums::STATEMENTS,
    events::tasks::STATEMENTS,
    events::visitor_keys::STATEMENTS,
    health::STATEMENTS,
    insert::STATEMENTS,
    instances::STATEMENTS,
    invitations::STATEMENTS,
    keys::STATEMENTS,
    links::STATEMENTS,
    list_statements::STATEMENTS,
    live_rows::STATEMENTS,
    locks::STATEMENTS,
    members::STATEMENTS,
    pending_hosts::STATEMENTS,
    plans::STATEMENTS,
    redirect_lookup::STATEMENTS,
    reports::STATEMENTS,
    reservations::STATEMENTS,
    row_checksum::STATEMENTS,
    secrets::STATEMENTS,
    sessions::STATEMENTS,
    sync::STATEMENTS,
    tags::STATEMENTS,
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

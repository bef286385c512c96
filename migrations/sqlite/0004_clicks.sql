-- Clicks: how redirects are written down, and what is known of them by the hour.

-- Bots, HEAD and prefetch: answered, but not visits.
alter table link_stats add column others bigint not null default 0;

-- The hour comes first: the rows of the present hour lie together, and writing the hits of a
-- hundred thousand links touches some hundreds of pages, not a hundred thousand.
create table link_hours (
    hour bigint not null,
    link_id bigint not null,
    hits bigint not null,
    others bigint not null,
    primary key (hour, link_id)
) without rowid;

-- What hours become when they are old.
create table link_days (
    link_id bigint not null,
    day bigint not null,
    hits bigint not null,
    others bigint not null,
    primary key (link_id, day)
) without rowid;

-- Processes that write clicks: how many times each has written, so that a write that is sent again
-- is known, and when it last did.
create table click_writers (
    writer bigint primary key not null,
    turn bigint not null,
    written_at bigint not null
);
insert into counters (name, next) values ('writer', 1);

-- Redirects that are safe, but not yet added to the tables above: each row is added as a whole
-- and removed in the same transaction.
create table click_log (
    writer bigint not null,
    seq bigint not null,
    tallies blob not null,
    primary key (writer, seq)
);

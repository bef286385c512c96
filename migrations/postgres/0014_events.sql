-- Events: clicks with what is known of them, and what is left of them later.

-- Events that are safe, but not yet in a block: one row for each write of a process, all workspaces mixed.
create table event_log (
    writer bigint not null,
    seq bigint not null,
    events bigint not null,
    data bytea not null,
    written_at bigint not null,
    primary key (writer, seq)
);

-- Events of one workspace and UTC day, one row for each column, so that a query reads only the columns
-- that it needs.
create table event_blocks (
    workspace text collate "C" not null,
    day bigint not null,
    seq bigint not null,
    column_number bigint not null,
    events bigint not null,
    data bytea not null,
    primary key (workspace, day, seq, column_number)
);
-- One entry for each block: its column of links.
create index event_blocks_by_day on event_blocks (day, workspace, seq, events)
    where column_number = 32;
insert into counters (name, next) values ('event_block', 1), ('event_task', 1);

-- What is left of days whose events are gone.
create table day_sums (
    workspace text collate "C" not null,
    day bigint not null,
    dimension bigint not null,
    data bytea not null,
    primary key (workspace, day, dimension)
);
create index day_sums_by_day on day_sums (day);

-- The keys of visitors' hashes. Without its key a hash leads to nobody: a key is destroyed soon after its
-- period and is in no backup and no copy.
create table visitor_keys (
    period_kind text collate "C" not null,
    period_start bigint not null,
    period_end bigint not null,
    secret bytea not null,
    primary key (period_kind, period_start)
);

-- What is to be done to events that are there: removing some, or what a narrower mode does not keep.
create table event_tasks (
    id bigint primary key not null,
    kind text collate "C" not null,
    workspace text collate "C" not null,
    link_id bigint,
    from_time bigint not null,
    to_time bigint not null,
    requested_at bigint not null
);

create table analytics_shares (
    token_hash bytea primary key not null,
    workspace text collate "C" not null,
    scope text collate "C" not null,
    subject text collate "C",
    time_range text collate "C",
    group_names text collate "C",
    filters text collate "C",
    password_hash text collate "C",
    expires_at bigint,
    is_indexed bigint not null,
    created_by bigint,
    created_at bigint not null,
    revoked_at bigint
);
create index analytics_shares_by_workspace on analytics_shares (workspace, created_at);

-- What a workspace keeps about visitors; null: what the server says.
alter table workspaces add column analytics_mode text collate "C";
alter table workspaces add column events_keep bigint;
alter table workspaces add column honour text collate "C";
alter table workspaces add column excluded_networks text collate "C";
alter table workspaces add column panels_off text collate "C";
alter table links add column analytics_mode text collate "C";

-- Blocks are compressed already.
alter table event_blocks alter column data set storage external;

-- Unlogged: the keys are in no archive of the log, no base backup and no standby. A crash of the server
-- loses them, and visitors of that day count anew.
do $$ begin
    if (select relpersistence from pg_class where oid = 'visitor_keys'::regclass) = 'p' then
        alter table visitor_keys set unlogged;
    end if;
end $$;

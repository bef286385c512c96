-- Abuse: links that are withheld, who made a link and from where, reports, and a log to look into.

-- A link that is withheld stays so when it is purged: its URL does not bring it back.
alter table links add column disabled_at bigint;
alter table links add column disabled_reason text collate "C";
alter table links add column disabled_note text collate "C";
-- With which key and from which address it was made; emptied when it is purged.
alter table links add column made_key bigint;
alter table links add column made_from text collate "C";

create index changes_by_time on changes (at, id);
create index changes_by_user on changes (user_id, at, id);

-- What visitors say about links, until it is looked into. One address counts once for each link.
create table reports (
    id bigint primary key,
    link_id bigint not null,
    client text collate "C",
    reason text collate "C" not null,
    words text collate "C" not null,
    at bigint not null
);
create unique index reports_by_link on reports (link_id, client);
insert into counters (name, next) values ('report', 1);

-- Hosts that workspaces gave up: for some time nobody else gets them.
create table released_hosts (
    host text collate "C" primary key,
    workspace text collate "C" not null,
    released_at bigint not null
);

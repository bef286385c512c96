-- Abuse: links that are withheld, who made a link and from where, reports, and a log to look into.

-- A link that is withheld stays so when it is purged: its URL does not bring it back.
alter table links add column disabled_at bigint;
alter table links add column disabled_reason text;
alter table links add column disabled_note text;
-- With which key and from which address it was made; emptied when it is purged.
alter table links add column made_key bigint;
alter table links add column made_from text;

create index changes_by_time on changes (at, id);
create index changes_by_user on changes (user_id, at, id);

-- What visitors say about links, until it is looked into. One address counts once for each link.
create table reports (
    id integer primary key not null,
    link_id bigint not null,
    client text,
    reason text not null,
    words text not null,
    at bigint not null
);
create unique index reports_by_link on reports (link_id, client);
insert into counters (name, next) values ('report', 1);

-- Hosts that workspaces gave up: for some time nobody else gets them.
create table released_hosts (
    host text primary key not null,
    workspace text not null,
    released_at bigint not null
);

-- Pages: sessions of browsers, who changed what, and lists that stay quick at a million links.

-- Of the secret in the browser's cookie only the hash is here. A session is good while the user's
-- token version is what it was at sign-in.
create table sessions (
    hash blob primary key not null,
    user_id bigint not null references users (id),
    token_version bigint not null,
    agent text not null,
    created_at bigint not null,
    seen_at bigint not null,
    expires_at bigint not null
);
create index sessions_by_user on sessions (user_id, created_at);
create index sessions_by_expiry on sessions (expires_at);

-- The processes that serve this store, for people to look at.
create table instances (
    name text primary key not null,
    version text not null,
    started_at bigint not null,
    seen_at bigint not null
);

-- Who did what, when, to what. `detail` is a JSON object; it is emptied when its link is purged.
create table changes (
    id integer primary key not null,
    at bigint not null,
    user_id bigint,
    key_id bigint,
    action text not null,
    subject_kind text not null,
    subject_id text not null,
    detail text not null,
    client text
);
create index changes_by_subject on changes (subject_kind, subject_id, id);
insert into counters (name, next) values ('change', 1);

-- The list that a link is in: its owner's own in `main`, else its workspace's.
alter table links add column shelf text generated always as (
    case when workspace = 'main' and owner_id is not null
        then 'main/' || cast(owner_id as text) else workspace end) virtual;
drop index links_by_owner;
create index links_by_shelf on links (shelf, created_at, id) where purged_at is null;
create index links_by_shelf_code on links (shelf, lower(code)) where purged_at is null;
create index links_by_shelf_title on links (shelf, lower(title))
    where title is not null and purged_at is null;
create index links_by_shelf_target on links (shelf, lower(substr(target, 1, 80)))
    where purged_at is null;

-- The same beside the counts, so that the most followed links of a list come from an index.
alter table link_stats add column shelf text;
update link_stats set shelf = (select l.shelf from links l where l.id = link_stats.link_id);
create index link_stats_by_shelf on link_stats (shelf, redirect_count, link_id);

-- Times are unix milliseconds, flags are nullable times, codes compare by bytes.

create table workspaces (
    id text collate "C" primary key,
    strategy text collate "C" not null,
    hit_limit bigint,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint
);

create table hosts (
    host text collate "C" primary key,
    workspace text collate "C" not null references workspaces (id),
    created_at bigint not null
);
create index hosts_by_workspace on hosts (workspace);

-- A purged link stays as a tombstone: its code is taken for good, everything else is emptied.
create table links (
    id bigint primary key,
    workspace text collate "C" not null references workspaces (id),
    code text collate "C" not null,
    strategy text collate "C" not null,
    target text collate "C" not null,
    canonical_hash bytea not null,
    title text collate "C",
    tags text collate "C",
    redirect_status bigint not null,
    hit_limit bigint,
    created_at bigint not null,
    updated_at bigint not null,
    expires_at bigint,
    deleted_at bigint,
    purged_at bigint,
    main_since bigint,
    version bigint not null
);
create unique index links_by_code on links (workspace, code);
create unique index links_by_canonical on links (workspace, canonical_hash)
    where strategy = 'deterministic';
create unique index links_by_main_code on links (code) where main_since is not null;
create index links_by_creation on links (workspace, created_at, id) where purged_at is null;
create index links_by_expiry on links (expires_at) where deleted_at is null and purged_at is null;

create table link_tags (
    workspace text collate "C" not null,
    tag text collate "C" not null,
    link_id bigint not null,
    primary key (workspace, tag, link_id)
);
create index link_tags_by_link on link_tags (link_id);

-- Apart from links, so that counting never rewrites a wide row; no row before the first redirect.
create table link_stats (
    link_id bigint primary key,
    redirect_count bigint not null,
    avg_redirect_ms double precision not null,
    last_redirect_at bigint not null,
    month bigint not null,
    month_hits bigint not null
);

create table totals (
    name text collate "C" primary key,
    count bigint not null,
    mean double precision not null
);
insert into totals (name, count, mean) values ('redirects', 0, 0);

-- Numbers are handed out in blocks: `next` is the first that nobody holds.
create table counters (
    name text collate "C" primary key,
    next bigint not null
);
insert into counters (name, next) values ('link', 1), ('code', 1);

create table locks (
    name text collate "C" primary key,
    lock_until bigint not null,
    locked_at bigint not null,
    locked_by text collate "C" not null
);

create table secrets (
    name text collate "C" primary key,
    value text collate "C" not null,
    created_at bigint not null
);

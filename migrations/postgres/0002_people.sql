-- People: accounts, keys, members of workspaces, and whose a link is.

create table users (
    id bigint primary key,
    email text collate "C" not null,
    name text collate "C" not null,
    password_hash text collate "C" not null,
    token_version bigint not null,
    admin_at bigint,
    disabled_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index users_by_email on users (email);

create table api_keys (
    id bigint primary key,
    user_id bigint not null references users (id),
    name text collate "C" not null,
    hash bytea not null,
    prefix text collate "C" not null,
    scopes text collate "C" not null,
    workspace text collate "C",
    created_at bigint not null,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint
);
create unique index api_keys_by_hash on api_keys (hash);
create index api_keys_by_user on api_keys (user_id, id);

create table members (
    workspace text collate "C" not null references workspaces (id),
    user_id bigint not null references users (id),
    role text collate "C" not null,
    created_at bigint not null,
    primary key (workspace, user_id)
);
create index members_by_user on members (user_id, workspace);

create table invites (
    hash bytea primary key,
    email text collate "C" not null,
    created_at bigint not null,
    expires_at bigint not null,
    used_at bigint
);

-- Links that a user made in a UTC month, where a monthly limit counts them.
create table user_months (
    user_id bigint not null,
    month bigint not null,
    links bigint not null,
    primary key (user_id, month)
);

-- Apart from links, so that checks never rewrite a wide row; no row before the first check.
create table link_health (
    link_id bigint primary key,
    destination_status text collate "C" not null,
    last_checked_at bigint not null,
    next_check_at bigint not null
);
create index link_health_by_next_check on link_health (next_check_at);

-- No reference to users: a link outlives its owner's account until it is purged, and numbers of
-- users are never given twice.
alter table links add column owner_id bigint;
alter table links add column claim_hash bytea;
-- When the cleanup noticed that the link's time is over. The redirect does not wait for it.
alter table links add column expired_at bigint;
create index links_by_owner on links (owner_id, workspace, created_at, id)
    where owner_id is not null and purged_at is null;
create unique index links_by_claim on links (claim_hash) where claim_hash is not null;
-- What waits to be purged: two small indexes instead of one over an expression.
create index links_deleted on links (deleted_at) where deleted_at is not null and purged_at is null;
create index links_expired on links (expired_at) where expired_at is not null and purged_at is null;

insert into counters (name, next) values ('user', 1), ('key', 1);

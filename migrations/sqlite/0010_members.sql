-- Members: accounts that are being deleted, and invitations to workspaces.

-- An account is marked first. Nobody can sign in with it or make anything with it from then on; then its
-- links are deleted, and its row last.
alter table users add column deleted_at bigint;
create index users_deleted on users (deleted_at) where deleted_at is not null;

-- What must not go away while a statement refers to it. On PostgreSQL these views lock the row; SQLite has one
-- writer and needs no lock.
create view live_users as select id from users where deleted_at is null;
create view live_workspaces as select id from workspaces where deleted_at is null;

-- One pending invitation for each address. It is removed when it is accepted, declined or revoked.
create table workspace_invitations (
    id integer primary key not null,
    workspace text not null references workspaces (id),
    email text not null,
    role text not null,
    hash blob not null,
    invited_by bigint,
    created_at bigint not null,
    expires_at bigint not null
);
create unique index workspace_invitations_by_email on workspace_invitations (workspace, email);
create unique index workspace_invitations_by_hash on workspace_invitations (hash);
create index workspace_invitations_of_email on workspace_invitations (email, id);

insert into counters (name, next) values ('invitation', 1);

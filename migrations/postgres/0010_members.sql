-- Members: accounts that are being deleted, and invitations to workspaces.

-- An account is marked first. Nobody can sign in with it or make anything with it from then on; then its
-- links are deleted, and its row last.
alter table users add column deleted_at bigint;
create index users_deleted on users (deleted_at) where deleted_at is not null;

-- What must not go away while a statement refers to it. The row stays locked to the end of the transaction,
-- so a deletion waits for it; a deletion that was first is seen.
create view live_users as select id from users where deleted_at is null for share;
create view live_workspaces as select id from workspaces where deleted_at is null for share;

-- One pending invitation for each address. It is removed when it is accepted, declined or revoked.
create table workspace_invitations (
    id bigint primary key,
    workspace text collate "C" not null references workspaces (id),
    email text collate "C" not null,
    role text collate "C" not null,
    hash bytea not null,
    invited_by bigint,
    created_at bigint not null,
    expires_at bigint not null
);
create unique index workspace_invitations_by_email on workspace_invitations (workspace, email);
create unique index workspace_invitations_by_hash on workspace_invitations (hash);
create index workspace_invitations_of_email on workspace_invitations (email, id);

insert into counters (name, next) values ('invitation', 1);

-- Hosts that a workspace named and that are not proven: they do not answer, and two workspaces may name
-- the same one. Hosts that were added before this step stay in `hosts` and answer as before.
create table pending_hosts (
    workspace text not null references workspaces (id),
    host text not null,
    token text not null,
    created_at bigint not null,
    checked_at bigint,
    primary key (workspace, host)
) without rowid;

-- Which account made a workspace, for the limit of workspaces per account: for older ones the first of its
-- administrators. No reference to users: a workspace outlives the account.
alter table workspaces add column created_by bigint;
update workspaces set created_by = (select members.user_id from members
    where members.workspace = workspaces.id and members.role = 'admin'
    order by members.created_at, members.user_id limit 1);
create index workspaces_by_creator on workspaces (created_by) where created_by is not null;

-- Custom codes that a user chose in the workspace main in a UTC month.
alter table user_months add column custom_codes bigint not null default 0;

-- Plans: what decides where visitors of a link are sent, beyond its target.

-- Apart from links, so that reading a link without a plan reads nothing of this.
create table link_plans (
    link_id bigint primary key not null,
    plan text not null,
    -- The secret keys of its splits.
    keys blob not null,
    -- The version of the link with which it was stored.
    version bigint not null
);
-- Since when the link has a plan.
alter table links add column plan_at bigint;
create index links_with_plan on links (workspace, id) where plan_at is not null;

-- How often links with a click limit were followed, written before the visitor is sent on.
create table link_uses (
    link_id bigint primary key not null,
    uses bigint not null,
    -- How many of them the last statement took.
    taken bigint not null
);

-- What holds for links of a workspace that say nothing else, as one JSON text, with its checksum.
alter table workspaces add column link_defaults text;
alter table workspaces add column link_defaults_checksum bigint;

-- Failed checks in a row, at least ten minutes apart, and when the last of them was counted.
alter table link_health add column failures bigint not null default 0;
alter table link_health add column failed_at bigint;

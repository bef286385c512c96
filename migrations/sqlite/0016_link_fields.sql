-- A text for those who manage a link, and when it was put away: see LinkFields.
alter table links add column note text;
alter table links add column archived_at bigint;
create index links_by_list_scope_archived on links (list_scope)
    where archived_at is not null and purged_at is null;

-- A further code of a link is a row of its own that names the link. It is a tombstone in all else, so its code
-- is taken for good by the same indexes. 0: the code was an alias, and leads nowhere any more.
alter table links add column alias_of bigint;
create index links_by_alias on links (alias_of) where alias_of is not null;

-- Where `/`, unknown codes and paths that can be no code lead on a host; null: a page says so.
alter table hosts add column home_url text;
alter table hosts add column not_found_url text;
alter table hosts add column invalid_code_url text;

-- The tags of a link, in their order, are read here: renaming a tag of many links need not rewrite the links, which
-- are wide and have many indexes. The column links.tags is what the last edit wrote.
alter table link_tags add column position bigint not null default 0;
update link_tags set position = coalesce((select instr(char(10) || l.tags || char(10), char(10) || link_tags.tag || char(10))
    from links l where l.id = link_tags.link_id), 0);

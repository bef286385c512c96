-- Search: an index over the text of links, and one for each order and filter of a list.

-- Trigrams of code, title and target, and a token for the list: see src/store/search_index.rs. The texts
-- themselves are not kept here. Whoever writes links without kurz has to write here as well.
create virtual table link_search using fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram', detail = 'none'
);
insert into link_search (rowid, text)
    select id, scope_token(list_scope) || char(10) || code || char(10) || coalesce(title, '')
        || char(10) || target
    from links where purged_at is null;

-- The beginnings of codes, titles and hosts are found by the new index.
drop index links_by_list_scope_code;
drop index links_by_list_scope_title;
drop index links_by_list_scope_target;

-- Lists of one workspace or owner.
create index links_by_list_scope_code on links (list_scope, code) where purged_at is null;
create index links_by_list_scope_change on links (list_scope, updated_at, id)
    where purged_at is null;
-- The strategy first, since a filter by it is also asked for over all lists of `main`.
create index links_by_list_scope_strategy on links (strategy, list_scope) where purged_at is null;
create index links_by_list_scope_expiry on links (list_scope, expires_at)
    where expires_at is not null and purged_at is null;
create index links_by_list_scope_deleted on links (list_scope)
    where deleted_at is not null and purged_at is null;
create index links_by_list_scope_disabled on links (list_scope)
    where disabled_at is not null and purged_at is null;

-- Lists of all of `main`, and what was made on the whole server, tombstones included.
drop index links_by_creation;
create index links_by_creation on links (created_at, id);
create index links_by_change on links (updated_at, id) where purged_at is null;
create index link_stats_by_count on link_stats (redirect_count, link_id);

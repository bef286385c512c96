-- Search: an index over the text of links, and one for each order and filter of a list.

-- Trigrams of code, title and target, and a token for the list: see src/store/search_index.rs. Plain
-- functions, so that no extension is needed. The list of entries that are not sorted in yet is kept
-- short, since each search reads all of it.
create index links_search on links using gin ((
    string_to_array('@@@' || list_scope || chr(1)
        || regexp_replace(lower(code || chr(10) || coalesce(title, '') || chr(10) || target),
            '(...)', '\1' || chr(1), 'g') || chr(1)
        || regexp_replace(substr(lower(code || chr(10) || coalesce(title, '') || chr(10)
            || target), 2), '(...)', '\1' || chr(1), 'g') || chr(1)
        || regexp_replace(substr(lower(code || chr(10) || coalesce(title, '') || chr(10)
            || target), 3), '(...)', '\1' || chr(1), 'g'), chr(1))
)) with (gin_pending_list_limit = 512) where purged_at is null;

-- The beginnings of codes, titles and hosts are found by the new index.
drop index links_by_list_scope_code;
drop index links_by_list_scope_title;
drop index links_by_list_scope_target;

-- Lists of one workspace or owner.
create index links_by_list_scope_code on links (list_scope, code, id) where purged_at is null;
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

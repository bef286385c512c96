-- Names: tables, columns and indexes are called what the program calls them. No row is rewritten; SQLite
-- cannot rename an index, so those are built anew.

drop index links_by_shelf;
drop index links_by_shelf_code;
drop index links_by_shelf_title;
drop index links_by_shelf_target;
alter table links rename column shelf to list_scope;
create index links_by_list_scope on links (list_scope, created_at, id) where purged_at is null;
create index links_by_list_scope_code on links (list_scope, lower(code)) where purged_at is null;
create index links_by_list_scope_title on links (list_scope, lower(title))
    where title is not null and purged_at is null;
create index links_by_list_scope_target on links (list_scope, lower(substr(target, 1, 80)))
    where purged_at is null;
drop index link_stats_by_shelf;
alter table link_stats rename column shelf to list_scope;
create index link_stats_by_list_scope on link_stats (list_scope, redirect_count, link_id);

alter table links rename column seal to row_checksum;
alter table click_writers rename column turn to write_seq;

drop index changes_by_subject;
drop index changes_by_time;
drop index changes_by_user;
alter table changes rename to audit;
create index audit_by_subject on audit (subject_kind, subject_id, id);
create index audit_by_time on audit (at, id);
create index audit_by_user on audit (user_id, at, id);

alter table click_log rename column tallies to totals;

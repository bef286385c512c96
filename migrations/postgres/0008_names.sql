-- Names: tables, columns and indexes are called what the program calls them. No row is rewritten.

alter table links rename column shelf to list_scope;
alter index links_by_shelf rename to links_by_list_scope;
alter index links_by_shelf_code rename to links_by_list_scope_code;
alter index links_by_shelf_title rename to links_by_list_scope_title;
alter index links_by_shelf_target rename to links_by_list_scope_target;
alter table link_stats rename column shelf to list_scope;
alter index link_stats_by_shelf rename to link_stats_by_list_scope;

alter table links rename column seal to row_checksum;
alter table click_writers rename column turn to write_seq;

alter table changes rename to audit;
alter index changes_pkey rename to audit_pkey;
alter index changes_by_subject rename to audit_by_subject;
alter index changes_by_time rename to audit_by_time;
alter index changes_by_user rename to audit_by_user;

alter table click_log rename column tallies to totals;

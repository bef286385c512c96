-- The HTTP status of the last response of a target; null when there was none.
alter table link_health add column http_status bigint;
-- The link that was made for a URL of a user's sync, so that the same list again makes no second one.
create table synced_urls (
    user_id bigint not null,
    url_hash bytea not null,
    link_id bigint not null,
    primary key (user_id, url_hash)
);
create index synced_urls_by_link on synced_urls (link_id);

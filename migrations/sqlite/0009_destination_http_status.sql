-- The HTTP status of the last response of a target; null when there was none.
alter table link_health add column http_status bigint;

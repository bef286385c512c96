-- Lives: what the cleanup goes by.

-- The database's own clock in unix milliseconds, under one name in both databases.
create view database_clock as
    select cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) as ms;

-- Links that cleanup has marked leave this index, so that it finds the next ones at its front.
drop index links_by_expiry;
create index links_by_expiry on links (expires_at)
    where expired_at is null and deleted_at is null and purged_at is null;

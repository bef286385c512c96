-- Hits of a link's month that instances have reserved and that are not counted in month_hits yet; the
-- instances that may hold unused ones (holders) and that may have clicks which are not counted
-- yet (writers), one bit each; and how many were granted last, for the answer to that request.
alter table link_stats add column reserved bigint not null default 0;
alter table link_stats add column holders bigint not null default 0;
alter table link_stats add column writers bigint not null default 0;
alter table link_stats add column granted bigint not null default 0;

-- The bit of a process that shares quotas: null for one that does not, or that is gone.
alter table click_writers add column bit bigint;

-- A checksum of a link's number, place and target: see src/store/seal.rs. Older rows have none.
alter table links add column seal bigint;

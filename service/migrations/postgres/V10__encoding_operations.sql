-- Since when others may know a root: chips that have keys of it get other ones when they are laid down again.
ALTER TABLE encoding_roots ADD COLUMN compromised_at BIGINT;

-- Since when a tag of a run is passed over: it comes last.
ALTER TABLE encoding_run_tags ADD COLUMN skipped_at BIGINT;

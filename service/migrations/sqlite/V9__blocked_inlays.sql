-- Since when codes of an inlay are refused, because it was lost or cloned; NULL if they are not.
ALTER TABLE inlays ADD COLUMN blocked_at INTEGER;

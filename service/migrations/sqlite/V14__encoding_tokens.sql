-- The token that began an encoding: one of them fills no database with chips that it invents.
ALTER TABLE encodings ADD COLUMN token_id INTEGER;
CREATE INDEX encodings_unproved ON encodings (token_id, created_at) WHERE state NOT IN ('verified', 'reset');

-- Which rule of its redirect led a tap, for the trace: its number from 1, 0 if none applied, NULL
-- if the redirect has none or it is unknown.
ALTER TABLE left_out ADD COLUMN rule INTEGER;

-- The only experiences whose events the endpoint gets, as JSON: those of the token that made it.
ALTER TABLE webhooks ADD COLUMN experience_ids TEXT;

-- What is kept of events goes when it is as old as what they tell of.
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (type, at);

-- Previews that programs got, by the hour, for the overview: no taps, and nobody's data.
CREATE TABLE previews (
    hour     INTEGER PRIMARY KEY, -- hours since the Unix epoch
    previews INTEGER NOT NULL
);

-- By how much the counter of a chip without a MAC has risen on the day `today`, once it shows `counter`; NULL if it does
-- not move. It decides as `MirrorState::show` does in Rust. The planner puts it into the statement that calls it.
CREATE OR REPLACE FUNCTION risen_to(counter BIGINT, today BIGINT, last BIGINT, risen_on BIGINT, risen BIGINT)
    RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN counter <= last THEN NULL
        -- Nobody knows the counter before the first one, so the first one is no rise.
        WHEN last = 0 THEN CASE WHEN counter <= 1000000 THEN 0::BIGINT END
        WHEN risen_on = today THEN CASE WHEN risen + counter - last <= 1000 THEN risen + counter - last END
        WHEN counter - last <= 1000 THEN counter - last
    END
$$;

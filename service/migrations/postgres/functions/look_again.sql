-- Makes `expire_aged_keys` check recent interactions again. If the clock went back, new ones may be dated before
-- those that it checked.
CREATE OR REPLACE FUNCTION look_again() RETURNS VOID LANGUAGE sql AS $$
    UPDATE expired_keys SET looked_to = present() - 300000 WHERE looked_to > present() - 300000
$$;

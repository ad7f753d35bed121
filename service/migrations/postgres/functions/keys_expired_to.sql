-- Keys of interactions up to the returned id have expired. It is PL/pgSQL for the same reason as `present`.
CREATE OR REPLACE FUNCTION keys_expired_to(of_simulated BOOLEAN) RETURNS BIGINT LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT CASE WHEN of_simulated THEN greatest(up_to, simulated_up_to) ELSE up_to END
        FROM expired_keys), 0);
END $$;

-- The experience of a tag: its own, or that of the nearest group above it that has one. `led_to` in `shared/groups/led.rs`
-- is the same for shared statements, and `Lineage::experience_id` in Rust.
CREATE OR REPLACE FUNCTION led_to(of_tag BIGINT, of_group BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT coalesce(of_tag, (
        SELECT coalesce(g1.experience_id, g2.experience_id, g3.experience_id, g4.experience_id)
        FROM tag_groups g1 LEFT JOIN tag_groups g2 ON g2.id = g1.parent_id
            LEFT JOIN tag_groups g3 ON g3.id = g2.parent_id
            LEFT JOIN tag_groups g4 ON g4.id = g3.parent_id
        WHERE g1.id = of_group))
$$;

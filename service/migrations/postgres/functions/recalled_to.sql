-- The experience that a recall shows to the taps of a group's tags; NULL without one. `Lineage::recall` decides it in Rust.
CREATE OR REPLACE FUNCTION recalled_to(of_group BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        CASE WHEN g1.status = 'recalled' THEN g1.recall_experience_id END,
        CASE WHEN g2.status = 'recalled' THEN g2.recall_experience_id END,
        CASE WHEN g3.status = 'recalled' THEN g3.recall_experience_id END,
        CASE WHEN g4.status = 'recalled' THEN g4.recall_experience_id END)
    FROM tag_groups g1 LEFT JOIN tag_groups g2 ON g2.id = g1.parent_id
        LEFT JOIN tag_groups g3 ON g3.id = g2.parent_id
        LEFT JOIN tag_groups g4 ON g4.id = g3.parent_id
    WHERE g1.id = of_group
$$;

-- A row and more in every table. Texts have what a text format may stumble over; bytes are random.
INSERT INTO settings VALUES ('operator', '{}');
INSERT INTO tokens (name, hash, created_at) VALUES ('a', randomblob(32), 1), ('b', randomblob(32), 2), ('c', randomblob(32), 3);
-- Its number is not given again.
DELETE FROM tokens WHERE name = 'c';

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :tags)
INSERT INTO tags (slug, name, title, description, language_code, status, experience_id, verifier_enabled,
    updates_require_verified, track_location, has_qr_code, simulated, location, widget_settings, created_at,
    updated_at, deleted_at)
SELECT 'bottle-' || i, 'ÄÖ ''Bottle'' ' || char(9) || '\' || char(10) || i, char(13) || '\N' || char(8),
    '😀 ' || char(11) || char(12) || char(1), 'en_US', 'active', 1 + i % 3, i % 2, i % 3 = 0, 0, i % 5 = 0, i % 7 = 0,
    CASE WHEN i % 2 THEN '{"city": "\\Köln"}' END, '{}', 1700000000000 + i, 1700000000000 + i,
    CASE WHEN i % 11 = 0 THEN 1700000000000 END
FROM n;
INSERT INTO former_slugs SELECT slug || '-before', id, 1700000000000 - id FROM tags WHERE id % 12 = 0
UNION ALL SELECT slug || '-first', id, 1600000000000 FROM tags WHERE id % 24 = 0;
INSERT INTO tags_search (rowid, name, slug, title)
SELECT id, name, slug || coalesce((SELECT group_concat(' ' || f.slug, '') FROM former_slugs f WHERE f.tag_id = tags.id), ''),
    title FROM tags;

INSERT INTO properties SELECT id, class, key, value || id FROM tags, (
    SELECT 'attribute' AS class, 'sku' AS key, 'A' || char(9) AS value
    UNION ALL SELECT 'attribute', 'Sku', '' UNION ALL SELECT 'variable', 'registered', 'é');

INSERT INTO master_keys (name, key, key_print, derivation, created_at)
VALUES ('m', randomblob(44), randomblob(16), '{"scheme": "an10922", "input": "01{uid}"}', 5);

INSERT INTO url_templates (name, settings) VALUES ('é', '{}'), ('', '{"template": "https://x.example"}');
INSERT INTO url_template_keys VALUES (1, randomblob(16), randomblob(44), NULL, 1), (1, randomblob(16), NULL, 1, 2);

INSERT INTO inlays (uid, technology, mode, url_template_id, tag_id, mirror, mac_from, master_key_id, meta_key, file_key, meta_key_print,
    file_key_print, factory_keys, simulated, created_at, updated_at, deleted_at)
SELECT randomblob(7), 'ntag424dna', CASE WHEN id % 6 THEN 'aes' ELSE 'lrp' END, CASE WHEN id % 3 = 0 THEN 1 END, id, CASE WHEN id % 4 THEN 'plain' END, 'none', CASE WHEN id % 9 = 0 THEN 1 END,
    CASE WHEN id % 2 THEN randomblob(44) END, randomblob(44), x'', randomblob(16), id % 13 = 0, simulated, 6, 7,
    CASE WHEN id % 17 = 0 THEN 8 END
FROM tags;
INSERT INTO counters SELECT id, 1 + id % 3, CASE WHEN id % 5 = 0 THEN 4294967295 ELSE id % 16777216 END, random(),
    20000 + id % 2, id % 1000 FROM inlays;
INSERT INTO former_counters SELECT id, randomblob(16), x'', id, random() FROM inlays WHERE id % 10 = 0;
INSERT INTO virtual_inlays (inlay_id, counter, created_at) SELECT id, id % 100, 9 FROM inlays WHERE simulated;

INSERT INTO experiences (name, folded, kind, draft, published, created_at, updated_at, deleted_at)
VALUES ('ÉÈ One', 'éè one', 'redirect', '{}', 1, 1, 2, NULL),
    ('Two', 'two', 'studio', '{"a": "\n"}', NULL, 1, 2, 3), ('', '', 'studio', '{}', 2, 1, 2, NULL);
INSERT INTO experience_versions VALUES (1, 1, 'One', '{}', 1), (3, 1, '', '{}', 1), (3, 2, '', '{}', 2);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
INSERT INTO images (experience_id, media_type, bytes, created_at) SELECT 1, 'image/png', randomblob(50000), i FROM n;

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :interactions)
INSERT INTO interactions
SELECT i, :now - (:interactions - i) * 500, 1 + i % :tags, CASE WHEN i > :tags THEN i - :tags END,
    CASE WHEN i % 3 THEN 1 + i % :tags END, CASE WHEN i % 50 = 0 THEN randomblob(7) END,
    CASE WHEN i % 3 THEN 'verified' ELSE 'static' END, i % 1000, CASE WHEN i % 3 THEN i % 1000 - 1 END, 'u',
    CASE WHEN i % 4 THEN 1 END, CASE WHEN i % 4 THEN 1 END, CASE WHEN i % 8 THEN randomblob(16) END,
    CASE WHEN i % 2 THEN 'DE' ELSE '' END, i % 2, i % 3 = 0, i % 2, i % 7 = 0,
    CASE WHEN i % 6 = 0 THEN 'sealed' END, CASE WHEN i % 12 = 0 THEN randomblob(16) END
FROM n;
INSERT INTO rolling_keys SELECT id, randomblob(32), randomblob(32), at, CASE WHEN id % 2 THEN at + 5 END,
    CASE WHEN id % 2 THEN randomblob(32) END FROM interactions WHERE id > :interactions - 2000 AND key_issued;
INSERT INTO updates SELECT id, at, '[{"key": "registered", "old": "\\", "new": "' || char(9) || '"}]'
FROM interactions WHERE id % 20 = 0;
INSERT INTO refused_updates SELECT id, at, 'unknown_variable', CASE WHEN id % 2 THEN 'owner' END
FROM interactions WHERE id % 25 = 0;
INSERT INTO payload_reads SELECT id, at, id % 9 FROM interactions WHERE id % 10 = 0;
INSERT INTO left_out SELECT id, '["tag:variable:registered"]' FROM interactions WHERE id % 50 = 0;
INSERT INTO visits SELECT tag_id, x'', count(*), max(at), max(id) FROM interactions GROUP BY tag_id;
INSERT INTO visits SELECT tag_id, client, 1, at, id FROM interactions WHERE client IS NOT NULL AND id % 5 = 0;
INSERT INTO tap_counts SELECT at / 3600000, reason, simulated, count(*) FROM interactions GROUP BY 1, 2, 3;
INSERT INTO sheets (name, expected, planned, created_at, closed_at) VALUES ('S', '{}', 5, 1, NULL), ('T', '{}', NULL, 1, 2);
INSERT INTO sheet_rows VALUES (1, 1, 5, '{"uid": "04"}'), (1, 2, 6, '{}'), (2, 1, 7, '{}');

-- An import that is decided, and on its way.
INSERT INTO imports (state, touched_at) VALUES ('decided', :now);
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99)
INSERT INTO import_rows (import_id, position, slug, uid, tag_id, experience_id, master_key_id, row, inlay)
SELECT (SELECT max(id) FROM imports), n, iif(n % 2, NULL, 'import-' || n), iif(n % 3, NULL, randomblob(7)),
    iif(n % 2, n, NULL), iif(n % 5, NULL, 1), iif(n % 7, NULL, 1), '[["name","Bottle"]]', iif(n % 3, NULL, '{}')
FROM numbers;

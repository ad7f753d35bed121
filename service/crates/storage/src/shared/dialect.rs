//! The differences between the SQL of the two databases.
//!
//! Shared statements use the SQL that both databases understand, with these additions:
//!
//! | Written | Meaning |
//! |---|---|
//! | `?1` | the first parameter |
//! | `IN ids(?1)`, `IN texts(?1)` | in the list of the first parameter ([`Value::list`]) |
//! | `x''` | no bytes |
//! | `FOR UPDATE`, at the end | taps and updates wait for this transaction. In SQLite, always |
//!
//! [`Value::list`]: crate::value::Value::list

use std::borrow::Cow;

/// The SQL dialect of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SQLite: statements run nearly as they are written.
    Sqlite,
    /// PostgreSQL: parameters are `$1`, lists are arrays.
    Postgres,
}

const LOCKED: &str = " FOR UPDATE";

impl Dialect {
    /// Translates a shared statement into this dialect.
    pub(crate) fn say(self, sql: &str) -> Cow<'_, str> {
        match self {
            Self::Sqlite => sqlite(sql),
            Self::Postgres => Cow::Owned(postgres(sql)),
        }
    }
}

fn sqlite(sql: &str) -> Cow<'_, str> {
    let sql = sql.strip_suffix(LOCKED).unwrap_or(sql);
    if !sql.contains(" IN ids(") && !sql.contains(" IN texts(") {
        return Cow::Borrowed(sql);
    }
    let listed = |sql: &str, list: &str| {
        replace_list(sql, list, |place| {
            format!(" IN (SELECT value FROM json_each({place}))")
        })
    };
    Cow::Owned(listed(&listed(sql, " IN ids("), " IN texts("))
}

fn postgres(sql: &str) -> String {
    let element = "json_array_elements_text(CAST";
    let sql = replace_list(sql, " IN ids(", |place| {
        format!(" = ANY (ARRAY(SELECT CAST({element}({place} AS JSON)) AS BIGINT)))")
    });
    let sql = replace_list(&sql, " IN texts(", |place| {
        format!(" = ANY (ARRAY(SELECT {element}({place} AS JSON))))")
    });
    // Shared statements contain no other question marks.
    sql.replace("x''", "''").replace('?', "$")
}

/// Replaces each `list` and its parameter by the result of `with` for the parameter.
fn replace_list(sql: &str, list: &str, with: impl Fn(&str) -> String) -> String {
    let mut said = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once(list) {
        let (place, after) = after.split_once(')').unwrap_or((after, ""));
        said.push_str(before);
        said.push_str(&with(place));
        rest = after;
    }
    said.push_str(rest);
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_gets_its_own_words() {
        let sql = "SELECT id FROM tags WHERE id IN ids(?1) AND slug IN texts(?2) AND name = ?3 AND key = x'' FOR UPDATE";
        assert_eq!(
            Dialect::Sqlite.say(sql),
            "SELECT id FROM tags WHERE id IN (SELECT value FROM json_each(?1)) \
             AND slug IN (SELECT value FROM json_each(?2)) AND name = ?3 AND key = x''"
        );
        assert_eq!(
            Dialect::Postgres.say(sql),
            "SELECT id FROM tags \
             WHERE id = ANY (ARRAY(SELECT CAST(json_array_elements_text(CAST($1 AS JSON)) AS BIGINT))) \
             AND slug = ANY (ARRAY(SELECT json_array_elements_text(CAST($2 AS JSON)))) AND name = $3 AND key = '' FOR UPDATE"
        );
    }
}

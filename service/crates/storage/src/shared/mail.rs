//! The mail server: its SQL.

use serde_json::{Value as Json, json};

use super::{Query, Transaction};
use crate::value::{unreadable, values};
use crate::{Access, MailServer, MailServerEdit, StorageError};
use domain::audit::Note;
use domain::revision::Precondition;

/// The operations on the mail server.
impl Access {
    /// The mail server; `None` if there is none.
    pub async fn mail_server(&self) -> Result<Option<MailServer>, StorageError> {
        self.read("mail_server", (), |db, ()| Box::pin(find(db)))
            .await
    }

    /// Sets the mail server to the result of `edit`, if the present one matches `expected`. Mails that
    /// wait are tried at once.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`](crate::Conflict::Changed) if it does not match, and the error of `edit`.
    pub async fn edit_mail_server(
        &self,
        edit: MailServerEdit,
        expected: Precondition,
    ) -> Result<MailServer, StorageError> {
        self.change(
            "edit_mail_server",
            (edit, expected),
            |tx, (edit, expected)| Box::pin(apply(tx, edit, expected)),
        )
        .await
    }

    /// Removes the mail server, if it matches `expected`. Mails wait for another one.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`](crate::Conflict::Changed) if it does not match.
    pub async fn delete_mail_server(
        &self,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_mail_server", expected, |tx, expected| {
            Box::pin(delete(tx, expected))
        })
        .await
    }
}

async fn find(db: &mut dyn Query) -> Result<Option<MailServer>, StorageError> {
    let sql = "SELECT fields, password FROM mail WHERE id = 1";
    let Some(mut row) = db.row(sql, &[]).await? else {
        return Ok(None);
    };
    Ok(Some(MailServer {
        fields: row.json("mail server")?,
        password: row.take()?,
    }))
}

/// The mail server as the audit log shows it: without the password.
fn shown(server: &MailServer) -> Json {
    let mut shown = json!(server.fields);
    shown["has_password"] = json!(server.password.is_some());
    shown
}

async fn apply(
    tx: &mut dyn Transaction,
    edit: &MailServerEdit,
    expected: &Precondition,
) -> Result<MailServer, StorageError> {
    let before = find(tx).await?;
    expected.check(before.as_ref())?;
    let server = edit(before.as_ref())?;
    if before.as_ref() == Some(&server) {
        return Ok(server);
    }
    let fields = serde_json::to_string(&server.fields).map_err(|_| unreadable("mail server"))?;
    let sql = "INSERT INTO mail (id, fields, password) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET fields = excluded.fields, password = excluded.password";
    tx.execute(sql, &values![fields, server.password.as_ref()])
        .await?;
    let mut after = shown(&server);
    let former = before.as_ref().and_then(|before| before.password.as_ref());
    if former.is_some() && server.password.is_some() && former != server.password.as_ref() {
        // Nothing else that is shown differs.
        after["password"] = json!("changed");
    }
    let before = before.as_ref().map_or(json!({}), shown);
    tx.note(Note::changed(&before, &after));
    super::notifications::wake_mails(tx).await?;
    Ok(server)
}

async fn delete(
    tx: &mut dyn Transaction,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(before) = find(tx).await? else {
        return Ok(None);
    };
    expected.check(Some(&before))?;
    tx.execute("DELETE FROM mail WHERE id = 1", &[]).await?;
    tx.note(Note::deleted(&shown(&before)));
    Ok(Some(()))
}

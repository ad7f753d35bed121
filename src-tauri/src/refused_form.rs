//! Errors of the page's forms, as commands return them.

use serde::Serialize;
use tapdesk_service::field_error::FieldError;

/// The error of a command that refuses a form. It has those members of an admin API problem that
/// the page's client reads.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RefusedForm {
    detail: String,
    errors: Vec<RefusedField>,
}

/// The error of one field.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RefusedField {
    field: String,
    message: String,
}

impl From<FieldError> for RefusedForm {
    fn from(FieldError { field, message }: FieldError) -> Self {
        let refused = |field: std::borrow::Cow<'static, str>| RefusedField {
            field: field.into_owned(),
            message: message.clone(),
        };
        Self {
            errors: field.map(refused).into_iter().collect(),
            detail: message,
        }
    }
}

impl From<String> for RefusedForm {
    fn from(detail: String) -> Self {
        Self {
            detail,
            errors: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_is_told_the_field_as_the_admin_api_tells_it() {
        let refused = RefusedForm::from(FieldError::of("url", "Enter a URL."));
        let expected = json!({"detail": "Enter a URL.", "errors": [{"field": "url", "message": "Enter a URL."}]});
        assert_eq!(serde_json::to_value(refused).unwrap(), expected);
        let refused = RefusedForm::from("It cannot be stored.".to_owned());
        let expected = json!({"detail": "It cannot be stored.", "errors": []});
        assert_eq!(serde_json::to_value(refused).unwrap(), expected);
    }
}

//! The value of a cell as the text that a person would type.

use std::borrow::Cow;

use calamine::{DataType, ExcelDateTime};

/// Digits of a number that a spreadsheet keeps.
const DIGITS: i32 = 15;

/// The text of a value; `None` if the cell is empty. An error continues a sentence that begins with
/// the cell.
pub(super) fn text(value: &impl DataType) -> Result<Option<Cow<'_, str>>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    if let Some(text) = value.get_string() {
        return Ok(Some(text.into()));
    }
    if let Some(error) = value.get_error() {
        return Err(format!("is the error {error}. Correct it"));
    }
    let text = if let Some(is) = value.get_bool() {
        is.to_string()
    } else if let Some(number) = value.get_int() {
        number.to_string()
    } else if let Some(float) = value.get_float() {
        number(float)
    } else if let Some(when) = value.get_datetime() {
        date(when)
    } else if let Some(iso) = value.get_datetime_iso() {
        iso.strip_suffix("T00:00:00")
            .unwrap_or(iso)
            .replace('T', " ")
    } else if let Some(iso) = value.get_duration_iso() {
        time_of_iso(iso).unwrap_or_else(|| iso.to_owned())
    } else {
        return Ok(None);
    };
    Ok(Some(text.into()))
}

/// A number without the digits that a spreadsheet does not keep. A longer one is in scientific
/// notation, because its last digits are lost.
fn number(number: f64) -> String {
    let digits = usize::try_from(DIGITS - 1).unwrap_or_default();
    let scientific = format!("{number:.digits$e}");
    let rounded: f64 = scientific.parse().unwrap_or(number);
    if rounded.abs() < 10_f64.powi(DIGITS) {
        // Without a sign if it is zero.
        return (rounded + 0.0).to_string();
    }
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}E+{exponent}")
        }
        // It is no finite number.
        None => scientific,
    }
}

fn date(when: ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = when.to_ymd_hms_milli();
    if when.is_duration() {
        let seconds = (when.as_f64() * 86_400.0).round();
        let sign = if seconds < 0.0 { "-" } else { "" };
        let seconds = seconds.abs();
        let (hours, minutes) = ((seconds / 3_600.0).floor(), (seconds / 60.0).floor() % 60.0);
        return format!("{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60.0);
    }
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    if when.as_f64() < 1.0 {
        return time;
    }
    let day = format!("{year:04}-{month:02}-{day:02}");
    if time == "00:00:00" {
        day
    } else {
        format!("{day} {time}")
    }
}

/// `13:05:00` from `PT13H05M00S`.
fn time_of_iso(iso: &str) -> Option<String> {
    let (hours, rest) = iso.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.strip_suffix('S')?;
    let seconds = seconds.split(['.', ',']).next()?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = [hours, minutes, seconds];
    parts
        .iter()
        .all(|part| is_number(part))
        .then(|| format!("{hours:0>2}:{minutes:0>2}:{seconds:0>2}"))
}

#[cfg(test)]
mod tests {
    use calamine::{Data, ExcelDateTimeType};

    use super::*;
    use crate::table::damage::{self, Damage};

    #[test]
    fn values_become_the_texts_that_people_type() {
        let days =
            |days| Data::DateTime(ExcelDateTime::new(days, ExcelDateTimeType::DateTime, false));
        let span = |days| {
            Data::DateTime(ExcelDateTime::new(
                days,
                ExcelDateTimeType::TimeDelta,
                false,
            ))
        };
        for (value, expected) in [
            (Data::Float(41.0), "41"),
            (Data::Float(-0.0), "0"),
            (Data::Float(12.5), "12.5"),
            (Data::Float(0.1 + 0.2), "0.3"),
            (Data::Float(4_006_381_333_931.0), "4006381333931"),
            (Data::Float(999_999_999_999_999.0), "999999999999999"),
            (Data::Float(1e15), "1E+15"),
            (
                Data::Float(12_345_678_901_234_567_890.0),
                "1.23456789012346E+19",
            ),
            (Data::Int(7), "7"),
            (Data::Bool(true), "true"),
            (Data::String(" a ".to_owned()), " a "),
            (days(45_234.0), "2023-11-04"),
            (days(45_234.5), "2023-11-04 12:00:00"),
            (days(0.25), "06:00:00"),
            (span(1.5), "36:00:00"),
            (Data::DateTimeIso("2023-11-04".to_owned()), "2023-11-04"),
            (
                Data::DateTimeIso("2023-11-04T00:00:00".to_owned()),
                "2023-11-04",
            ),
            (
                Data::DateTimeIso("2023-11-04T13:05:00".to_owned()),
                "2023-11-04 13:05:00",
            ),
            (Data::DurationIso("PT13H05M00S".to_owned()), "13:05:00"),
            (Data::DurationIso("P1D".to_owned()), "P1D"),
        ] {
            assert_eq!(text(&value), Ok(Some(expected.into())), "{value:?}");
        }
        assert_eq!(text(&Data::Empty), Ok(None));
        let refused = text(&Data::Error(calamine::CellErrorType::NA)).unwrap_err();
        assert!(refused.contains("#N/A"), "{refused}");
    }

    /// A number that lost digits is found in a UID, a key and a slug, as in a CSV file.
    #[test]
    fn a_number_with_lost_digits_is_known_as_damage() {
        for lost in [1e15, 4.52123e19, 1.234_567_890_123_45e31, 1.1e31] {
            let text = number(lost);
            assert_eq!(damage::of_uid(&text), Some(Damage::Scientific), "{text}");
            assert_eq!(damage::of_key(&text), Some(Damage::Scientific), "{text}");
            assert_eq!(damage::of_slug(&text), Some(Damage::Scientific), "{text}");
        }
        assert_eq!(
            damage::of_uid(&number(4_112_233_445_566.0)),
            Some(Damage::Shortened)
        );
    }
}

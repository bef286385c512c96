//! One page of a list, and how the next one is found.

use crate::app::FieldError;

/// Items in a page, unless the request says otherwise.
const DEFAULT: i64 = 50;
/// Most items in a page.
const MOST: i64 = 1000;

#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    pub(crate) const fn empty() -> Self {
        Self { items: Vec::new(), next: None }
    }

    /// The page of the first `size` items. One more that was read tells that there is a next page,
    /// which begins after the `cursor` of the last item.
    pub(crate) fn cut(mut items: Vec<T>, size: i64, cursor: impl FnOnce(&T) -> String) -> Self {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let more = items.len() > size;
        items.truncate(size);
        let next = items.last().filter(|_| more).map(cursor);
        Self { items, next }
    }

    pub(crate) fn map<U>(self, make: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(make).collect(), next: self.next }
    }
}

/// How many items a page has when a request asks for `limit`.
pub(crate) fn page_size(limit: Option<i64>) -> Result<i64, FieldError> {
    let limit = limit.unwrap_or(DEFAULT);
    if (1..=MOST).contains(&limit) {
        return Ok(limit);
    }
    let detail = format!("limit is a whole number from 1 to {MOST}");
    Err(FieldError::new("limit", "limit-invalid", detail))
}

/// Read a cursor that a list gave, if there is one.
pub(crate) fn read_cursor<C>(
    cursor: Option<&str>,
    read: impl FnOnce(&str) -> Option<C>,
) -> Result<Option<C>, FieldError> {
    let Some(text) = cursor else { return Ok(None) };
    let detail = "cursor is not one that this list gave: leave it out to start over";
    read(text).map(Some).ok_or_else(|| FieldError::new("cursor", "cursor-invalid", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_next_one_only_if_there_is_more() {
        let cut = |count| Page::cut((1..=count).collect(), 3, i32::to_string);
        for (count, items, next) in
            [(0, vec![], None), (3, vec![1, 2, 3], None), (4, vec![1, 2, 3], Some("3"))]
        {
            let page = cut(count);
            assert_eq!((page.items, page.next.as_deref()), (items, next));
        }
    }

    #[test]
    fn a_page_has_a_bounded_number_of_items() {
        assert_eq!(page_size(None), Ok(50));
        assert_eq!(page_size(Some(1000)), Ok(1000));
        for limit in [i64::MIN, 0, 1001] {
            assert_eq!(page_size(Some(limit)).unwrap_err().code, "limit-invalid");
        }
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let read = |text: &str| text.parse::<i64>().ok();
        assert_eq!(read_cursor(None, read), Ok(None));
        assert_eq!(read_cursor(Some("7"), read), Ok(Some(7)));
        assert_eq!(read_cursor(Some("x"), read).unwrap_err().code, "cursor-invalid");
    }
}

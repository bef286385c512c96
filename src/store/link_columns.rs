//! The columns of `links`, listed once. What is selected, inserted and copied follows from this list, and
//! rows are read by these names.

use crate::store::Error;
use crate::store::text::Selected;
use crate::store::value::{SqlRow, SqlValue};
use kurz_core::link::{ArchivedAt, LinkFields};
use kurz_core::time::Timestamp;

macro_rules! link_columns {
    (
        table: $($column:ident),+;
        fields: $($field:ident),+;
        joined: $($name:ident = $expression:literal),+;
    ) => {
        /// All columns of the table that are written, its key first.
        pub(super) const LINK_COLUMNS: &[&str] =
            &[$(stringify!($column),)+ $(stringify!($field)),+];

        /// Those of [`LinkFields`]. A field's column has its name.
        pub(super) const FIELD_COLUMNS: &[&str] = &[$(stringify!($field)),+];

        /// What a [`kurz_core::link::Link`] is read from; begins with [`LINK_COLUMNS`].
        pub(super) const LINK_SELECTED: &[Selected] = &[
            $(Selected { name: stringify!($column), expression: concat!("l.", stringify!($column)) },)+
            $(Selected { name: stringify!($field), expression: field_expression!($field) },)+
            $(Selected { name: stringify!($name), expression: $expression },)+
        ];

        /// The values of the fields, in the order of [`FIELD_COLUMNS`].
        pub(super) fn field_values(fields: &LinkFields) -> [SqlValue<'_>; FIELD_COLUMNS.len()] {
            [$(fields.$field.to_value()),+]
        }

        /// The fields of a row of [`LINK_SELECTED`].
        pub(super) fn read_fields(row: &SqlRow) -> Result<LinkFields, Error> {
            Ok(LinkFields { $($field: ColumnValue::read(row, at!($field))?),+ })
        }
    };
}

/// What is selected for a field: its column, but for tags, which may have been renamed since the link was
/// written.
macro_rules! field_expression {
    (tags) => {
        "(select string_agg(t.tag, '\n' order by t.position) from link_tags t
            where t.link_id = l.id)"
    };
    ($field:ident) => {
        concat!("l.", stringify!($field))
    };
}

/// Where a column is in [`LINK_COLUMNS`] and [`LINK_SELECTED`].
macro_rules! at {
    ($column:ident) => {
        const {
            $crate::store::text::position(
                $crate::store::link_columns::LINK_SELECTED,
                stringify!($column),
            )
        }
    };
}
pub(super) use at;

link_columns! {
    table: id, workspace, code, strategy, target, canonical_hash, created_at, updated_at, expired_at,
        deleted_at, purged_at, main_since, version, owner_id, claim_hash, disabled_at,
        disabled_reason, disabled_note, made_key, made_from, row_checksum, analytics_mode, plan_at,
        alias_of;
    fields: title, note, tags, expires_at, hit_limit, redirect_status, archived_at;
    joined: redirect_count = "coalesce(s.redirect_count, 0)",
        avg_redirect_ms = "coalesce(s.avg_redirect_ms, cast(0 as double precision))",
        last_redirect_at = "nullif(s.last_redirect_at, 0)",
        month = "coalesce(s.month, 0)",
        month_hits = "coalesce(s.month_hits, 0)",
        destination_status = "h.destination_status",
        destination_http_status = "h.http_status",
        last_checked_at = "h.last_checked_at",
        plan = "case when l.plan_at is null then null
            else (select p.plan from link_plans p where p.link_id = l.id) end",
        plan_keys = "case when l.plan_at is null then null
            else (select p.keys from link_plans p where p.link_id = l.id) end",
        aliases = "(select string_agg(a.code, ',' order by a.id) from links a where a.alias_of = l.id)";
}

/// What a purge empties beside the target: everything that is not needed to keep the code taken.
pub(super) const PURGED_COLUMNS: &[&str] = &[
    "title",
    "note",
    "tags",
    "archived_at",
    "hit_limit",
    "claim_hash",
    "made_key",
    "made_from",
    "disabled_note",
    "row_checksum",
    "plan_at",
];

/// Where [`LINK_SELECTED`] comes from.
pub(super) const LINK_TABLES: &str = " from links l left join link_stats s on s.link_id = l.id
    left join link_health h on h.link_id = l.id ";

/// How a field is kept in a column.
trait ColumnValue: Sized {
    fn to_value(&self) -> SqlValue<'_>;

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error>;
}

impl ColumnValue for Option<String> {
    fn to_value(&self) -> SqlValue<'_> {
        self.as_deref().into()
    }

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error> {
        Ok(row.opt_text(column)?.map(str::to_owned))
    }
}

/// A line for each: none of them holds a control character.
impl ColumnValue for Vec<String> {
    fn to_value(&self) -> SqlValue<'_> {
        join_tags(self).map_or(SqlValue::Null, SqlValue::owned)
    }

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error> {
        let lines = |text: &str| text.split('\n').map(str::to_owned).collect();
        Ok(row.opt_text(column)?.map(lines).unwrap_or_default())
    }
}

impl ColumnValue for Option<Timestamp> {
    fn to_value(&self) -> SqlValue<'_> {
        (*self).into()
    }

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error> {
        row.opt_time(column)
    }
}

impl ColumnValue for ArchivedAt {
    fn to_value(&self) -> SqlValue<'_> {
        self.0.into()
    }

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error> {
        row.opt_time(column).map(ArchivedAt)
    }
}

impl ColumnValue for Option<i64> {
    fn to_value(&self) -> SqlValue<'_> {
        (*self).into()
    }

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error> {
        row.opt_int(column)
    }
}

impl ColumnValue for u16 {
    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::Int((*self).into())
    }

    fn read(row: &SqlRow, column: usize) -> Result<Self, Error> {
        row.small_int(column)
    }
}

/// Tags as their column holds them.
pub(super) fn join_tags(tags: &[String]) -> Option<String> {
    if tags.is_empty() { None } else { Some(tags.join("\n")) }
}

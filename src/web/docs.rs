//! The API's description: as OpenAPI, and as a page made from it that loads nothing from
//! elsewhere.

use std::future::{Ready, ready};

use askama::Template;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::web::{assets, page};

/// `/api/openapi.json`
pub(super) fn openapi(api: &OpenApi) -> impl Fn() -> Ready<Response> + Clone + Send + Sync + use<> {
    let json = Bytes::from(api.to_pretty_json().unwrap_or_default());
    move || {
        let kind = [(header::CONTENT_TYPE, "application/json")];
        ready((kind, json.clone()).into_response())
    }
}

/// `/api/docs`
pub(super) fn page(api: &OpenApi) -> impl Fn() -> Ready<Response> + Clone + Send + Sync + use<> {
    let api = serde_json::to_value(api).unwrap_or_default();
    let body = Docs::read(&api).render().unwrap_or_default();
    move || ready(page::html(StatusCode::OK, body.clone()))
}

#[derive(Template)]
#[template(path = "docs.html")]
struct Docs {
    style: &'static str,
    title: String,
    version: String,
    description: String,
    groups: Vec<DocsGroup>,
    schemas: Vec<DocsSchema>,
}

struct DocsGroup {
    name: String,
    description: String,
    operations: Vec<DocsOperation>,
}

struct DocsOperation {
    id: String,
    method: String,
    path: String,
    summary: String,
    parameters: Vec<DocsField>,
    body: Option<String>,
    responses: Vec<DocsResponse>,
}

struct DocsResponse {
    status: String,
    description: String,
    body: Option<String>,
}

struct DocsSchema {
    name: String,
    description: String,
    fields: Vec<DocsField>,
}

struct DocsField {
    name: String,
    place: String,
    kind: String,
    required: bool,
    description: String,
}

impl Docs {
    fn read(api: &Value) -> Self {
        let operations = operations(api);
        let mut groups: Vec<DocsGroup> = array(api, "/tags")
            .map(|tag| DocsGroup {
                name: text(tag, "/name"),
                description: text(tag, "/description"),
                operations: Vec::new(),
            })
            .collect();
        for (tag, operation) in operations {
            if let Some(group) = groups.iter_mut().find(|group| group.name == tag) {
                group.operations.push(operation);
            }
        }
        Self {
            style: assets::style(),
            title: text(api, "/info/title"),
            version: text(api, "/info/version"),
            description: text(api, "/info/description"),
            groups,
            schemas: object(api, "/components/schemas")
                .map(|(name, schema)| read_schema(name, schema))
                .collect(),
        }
    }
}

/// Every operation with its tag, by path.
fn operations(api: &Value) -> Vec<(String, DocsOperation)> {
    let mut all = Vec::new();
    for (path, methods) in object(api, "/paths") {
        for (method, operation) in object(methods, "") {
            let read = DocsOperation {
                id: text(operation, "/operationId"),
                method: method.to_uppercase(),
                path: path.clone(),
                summary: text(operation, "/summary"),
                parameters: array(operation, "/parameters").map(read_parameter).collect(),
                body: operation.pointer("/requestBody/content").and_then(content_kind),
                responses: object(operation, "/responses")
                    .map(|(status, answer)| DocsResponse {
                        status: status.clone(),
                        description: text(answer, "/description"),
                        body: answer.pointer("/content").and_then(content_kind),
                    })
                    .collect(),
            };
            all.push((text(operation, "/tags/0"), read));
        }
    }
    all
}

fn read_parameter(parameter: &Value) -> DocsField {
    DocsField {
        name: text(parameter, "/name"),
        place: text(parameter, "/in"),
        kind: parameter.pointer("/schema").map(kind).unwrap_or_default(),
        required: parameter.pointer("/required").and_then(Value::as_bool).unwrap_or(false),
        description: text(parameter, "/description"),
    }
}

fn read_schema(name: &str, schema: &Value) -> DocsSchema {
    let required: Vec<&str> = array(schema, "/required").filter_map(Value::as_str).collect();
    DocsSchema {
        name: name.to_owned(),
        description: text(schema, "/description"),
        fields: object(schema, "/properties")
            .map(|(name, field)| DocsField {
                name: name.clone(),
                place: String::new(),
                kind: kind(field),
                required: required.contains(&name.as_str()),
                description: text(field, "/description"),
            })
            .collect(),
    }
}

/// The type behind the first media type of a `content`.
fn content_kind(content: &Value) -> Option<String> {
    let (media, body) = content.as_object()?.iter().next()?;
    let schema = body.pointer("/schema").map(kind).unwrap_or_default();
    Some(format!("{schema} ({media})"))
}

/// A type in a few words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema.pointer("/$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or(name).to_owned();
    }
    for choice in ["/oneOf", "/anyOf", "/allOf"] {
        let kinds: Vec<String> = array(schema, choice).map(kind).collect();
        if !kinds.is_empty() {
            return kinds.join(" or ");
        }
    }
    let name = match schema.pointer("/type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        Some(Value::String(kind)) => kind.clone(),
        _ => String::new(),
    };
    let items = schema.pointer("/items").map(|items| format!(" of {}", kind(items)));
    let format = schema.pointer("/format").and_then(Value::as_str);
    let format = format.filter(|format| !format.starts_with("int") && *format != "double");
    let format = format.map(|format| format!(" ({format})"));
    format!("{name}{}{}", items.unwrap_or_default(), format.unwrap_or_default())
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn array<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn object<'a>(
    value: &'a Value,
    pointer: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    value.pointer(pointer).and_then(Value::as_object).into_iter().flatten()
}

//! `kurz links edit`: change what is named, leave the rest.

use clap::ArgGroup;
use serde_json::{Value, json};

use crate::cli::CliError;
use crate::cli::arguments::WhichLink;
use crate::cli::client::ApiClient;
use crate::cli::links::fields::ChangedFields;
use crate::cli::links::plan_fields::PlanFields;
use crate::cli::runtime::block_on;
use crate::cli::shorten::print_link;

const EXAMPLES: &str = "\
Examples:
  kurz links edit promo --workspace acme --target https://example.com/new
  kurz links edit promo --title 'Spring sale' --tag ads --tag spring
  kurz links edit promo --code spring
  kurz links edit promo --archive --note 'ended in May'
  kurz links edit promo --no-tags --never-expires --default-hit-limit
  kurz links edit promo --rules rules.json --click-limit 100";

/// Edit a link
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("change").required(true).multiple(true))]
pub(super) struct Args {
    #[command(flatten)]
    link: WhichLink,
    /// The new target
    #[arg(long, value_name = "URL", group = "change")]
    target: Option<String>,
    /// The new code; the old one becomes an alias
    #[arg(long, value_name = "CODE", group = "change")]
    code: Option<String>,
    #[command(flatten)]
    fields: ChangedFields,
    #[command(flatten)]
    plan: PlanFields,
    /// Print the whole link as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let link = block_on(client.patch(&named.path(), args.body()?))?;
    print_link(&link, args.json)
}

impl Args {
    fn body(&self) -> Result<Value, CliError> {
        let mut body = self.fields.body();
        if let Some(target) = &self.target {
            body.insert("original_url".to_owned(), json!(target));
        }
        if let Some(code) = &self.code {
            body.insert("short_code".to_owned(), json!(code));
        }
        self.plan.add_to(&mut body)?;
        Ok(Value::Object(body))
    }
}

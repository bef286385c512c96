//! Every error code of the API, with its status and its meaning. `docs/ERRORS.md` is made from this list.
//!
//! Invariant: a problem has a code of this list with its status. Debug builds, and so all tests, assert it.

/// A code: its name, its HTTP status, what it means and what to do.
pub(super) type CatalogueEntry = (&'static str, u16, &'static str);

#[rustfmt::skip]
pub(super) const CATALOGUE: &[CatalogueEntry] = &[
    ("alias-not-found", 404, "The link has no such alias."),
    ("aliases-too-many", 422, "A link has at most 100 aliases: remove one first."),
    ("analytics-invalid", 422, "A group, interval, class, order or number of a question about clicks does not exist; `detail` says what there is."),
    ("analytics-slow", 503, "The question about clicks took longer than 5 seconds: ask for a shorter range or fewer groups."),
    ("app-invalid", 422, "An app of a link has an `app_id` or `package`, fingerprints and a path as `detail` says."),
    ("archived-invalid", 422, "`archived` is `false`, `true` or `only`."),
    ("body-incomplete", 400, "The request body ended early."),
    ("body-invalid", 422, "The JSON has an unknown, repeated, missing or mistyped field; `detail` names it."),
    ("body-not-utf8", 400, "The request body is not UTF-8 text."),
    ("body-too-large", 413, "The body is larger than the endpoint accepts: 64 KiB, or 1 MiB for bulk calls."),
    ("bulk-empty", 422, "A bulk call needs at least one link."),
    ("bulk-refused", 422, "An atomic bulk call stored nothing, because one of its links was refused."),
    ("bulk-too-large", 413, "A bulk call takes at most 1,000 links."),
    ("busy", 503, "Too many people are signing in right now; try again after `Retry-After` seconds."),
    ("card-invalid", 422, "A card has a title of at most 200, a description of at most 500 and an image URL of at most 2,048 characters."),
    ("changed-meanwhile", 409, "Somebody else changed the link at the same time: read it again and retry."),
    ("claim-not-found", 404, "No link that can be claimed has this code and token: it is claimed already, has expired, or never existed."),
    ("claims-size", 422, "A call can claim 1 to 100 links."),
    ("click-limit-invalid", 422, "A click limit is a whole number from 0 (none) to 10^12."),
    ("cloaking-refused", 422, "A target is never shown in a frame under the short address; `detail` says why."),
    ("code-invalid", 422, "A custom code has 3 to 64 letters, digits, `_` and `-`."),
    ("code-missing", 422, "The strategy `custom` needs a `custom_code`."),
    ("code-reserved", 422, "The custom code is reserved for a page or endpoint of kurz."),
    ("code-taken", 409, "The custom code belongs, or once belonged, to another target: choose another one."),
    ("consent-invalid", 422, "`consent` is `always`, `once`, or an object with `text`, `button` and `show`."),
    ("content-type-unsupported", 415, "A request with a cookie needs the content type that `detail` names."),
    ("counters-unavailable", 503, "The hits of the link's limit cannot be counted: the database does not answer, or Redis is away and the server is to wait for it; try again after `Retry-After` seconds."),
    ("csrf", 403, "A request with a cookie, or to a server in open mode, came from a page of another site."),
    ("cursor-invalid", 422, "The cursor does not belong to this list: leave it out to start over."),
    ("custom-code-limit", 429, "You have chosen as many custom codes in the workspace `main` as you may in a month (`KURZ_CUSTOM_CODE_LIMIT`); `Retry-After` says when the next month begins."),
    ("email-invalid", 422, "An email address has at most 254 bytes, one @, and no spaces or control characters."),
    ("email-taken", 409, "An account with this email address already exists."),
    ("expires-at-past", 422, "`expires_at` must be in the future."),
    ("expires-at-too-late", 422, "A link created without an account cannot expire later than the server allows."),
    ("filter-invalid", 422, "A filter of analytics is a dimension, a colon and up to 64 values of at most 256 bytes, such as country:DE,AT; there are at most 32."),
    ("filter-too-old", 422, "Filters need events, and those of some days are gone; `detail` says from which day on there are some."),
    ("health-off", 422, "A `fallback_url` needs checks of targets: `KURZ_HEALTH_CHECKS=on`."),
    ("hit-limit-invalid", 422, "A hit limit is a whole number, 0 (no limit) or more."),
    ("hit-limit-reached", 429, "The link has reached its monthly limit; `Retry-After` says when the next month begins."),
    ("host-invalid", 422, "A host is a name such as go.example.com of letters, digits, dots and hyphens, without a port, no IP address, and not the main host; `detail` says what is wrong."),
    ("host-not-found", 404, "The workspace has no such host."),
    ("host-quarantined", 409, "The host belonged to another workspace until recently, and its old addresses must not lead to strangers; `detail` says until when."),
    ("host-reserved", 403, "Names below the main host are the operator's: only an administrator of the server gives them to a workspace."),
    ("host-taken", 409, "The host already belongs to a workspace."),
    ("host-unknown", 421, "A server in open mode answers under its own names only: localhost, the address it listens on, and its public URL."),
    ("host-unproven", 409, "The proof that the host is yours was found neither in the DNS nor over HTTP; `detail` says what was there instead."),
    ("hosts-too-many", 422, "A workspace has at most 100 hosts, pending ones included: remove one first."),
    ("internal-error", 500, "Something went wrong on the server; its log says what."),
    ("invalid-token", 401, "The token or key is not valid, has expired or was revoked: sign in again."),
    ("invitation-link-needed", 403, "The account was made after the invitation, and addresses are not verified: accept it by the token of its link."),
    ("invitation-not-found", 404, "There is no such invitation for you: it was answered, revoked or replaced, or is older than 7 days."),
    ("invitations-too-many", 422, "A workspace has at most 100 invitations that wait for an answer: revoke some first."),
    ("invite-invalid", 403, "Registration needs a valid invitation for this email address."),
    ("json-malformed", 400, "The body is not JSON; `detail` says where it breaks."),
    ("key-not-found", 404, "You have no such key."),
    ("key-workspace", 403, "The key is bound to another workspace: use a key for this one, or one that is not bound to a workspace."),
    ("keys-too-many", 422, "A user has at most 100 keys: revoke one first."),
    ("last-admin", 409, "A workspace needs at least one admin: make another member admin first, or delete the workspace. `workspaces` names those it is about."),
    ("length-invalid", 422, "The length of a random code is 4 to 64."),
    ("length-without-random", 422, "Only random codes have a `length`: ask for the strategy `random`."),
    ("limit-invalid", 422, "A page has 1 to 1,000 entries."),
    ("link-blocked", 403, "A rule of the link does not send visitors like you on."),
    ("link-blocked-legally", 451, "A rule of the link does not send visitors like you on, for legal reasons."),
    ("link-disabled", 410, "The operator of the server disabled the link; `detail` says why."),
    ("link-exists", 409, "The link of this URL or code exists with other rules or settings: edit it, or ask for another strategy."),
    ("link-expired", 410, "The link has expired."),
    ("link-locked", 403, "The operator of the server disabled the link: it can be neither edited nor created again."),
    ("link-not-found", 404, "There is no such link, or it was deleted."),
    ("link-not-yet", 404, "The time of the link has not begun (`valid_from`)."),
    ("link-password-invalid", 422, "A link's password has 4 to 71 bytes and no NUL."),
    ("link-password-missing", 401, "The link needs a password: send it in the field `X-Link-Password`, or in the form of its page."),
    ("link-password-wrong", 401, "The password of the link is not right; after five wrong ones there is a wait."),
    ("link-purged", 410, "The link was deleted and then purged, so it cannot be restored; `detail` says when it was purged."),
    ("link-used-up", 410, "The link has been followed as often as it may be in its whole life (`click_limit`); a higher limit revives it."),
    ("main-has-no-members", 422, "Everybody has their own links in `main`: create a workspace for a team."),
    ("member-not-found", 404, "The workspace has no such member."),
    ("member-taken", 409, "This user is already a member."),
    ("members-too-many", 409, "A workspace has at most 1,000 members."),
    ("method-not-allowed", 405, "The address does not support this method; `Allow` lists those it does."),
    ("missing-role", 403, "This needs a higher role in the workspace; `detail` names it."),
    ("missing-scope", 403, "The key lacks a scope; `detail` names it."),
    ("mode-too-wide", 422, "A workspace keeps no more about visitors than the server, and a link no more than its workspace; `detail` says what the server keeps."),
    ("monthly-limit", 429, "You have created as many links as you may in a month; `Retry-After` says when the next month begins."),
    ("name-invalid", 422, "A name has at most 100 characters and no control characters."),
    ("no-free-code", 500, "All codes that were tried are taken; nothing was stored. See the runbook for collisions."),
    ("not-deleted", 409, "Only a deleted link can be restored."),
    ("not-disabled", 409, "Only a disabled link can be enabled."),
    ("not-found", 404, "There is nothing at this address."),
    ("not-owner", 403, "The link belongs to somebody else."),
    ("note-invalid", 422, "A note of a link has at most 2,048 characters, one that says why a link is disabled at most 500; of control characters, line ends (and tabs in the former) are allowed."),
    ("owner-deleted", 409, "The account that the link belonged to is deleted, so the link cannot be restored."),
    ("password-characters", 422, "A password cannot contain a NUL character."),
    ("password-length", 422, "A password has 8 to 71 characters."),
    ("placeholder-unknown", 422, "A text of `utm` has something in braces that is none of `{code}`, `{workspace}`, `{host}`, `{variant}`, `{country}`, `{device}`, `{qr}`."),
    ("plan-damaged", 422, "The stored rules of the link cannot be read: set them anew, or remove them."),
    ("qr-colour-invalid", 422, "A QR code's colours are six hexadecimal digits, such as 1a2b3c."),
    ("qr-format-invalid", 422, "A QR code is an svg or a png."),
    ("qr-size-invalid", 422, "A QR code's size is a whole number from 64 to 1024."),
    ("qr-too-long", 422, "The address is too long for a QR code."),
    ("query-invalid", 422, "The query string has an unknown, repeated or unreadable parameter."),
    ("query-mode-invalid", 422, "`query` of a link is `drop` or `merge`."),
    ("range-invalid", 422, "A range of analytics begins before it ends, has at most 10 years and at most 1,000 points; hours can be asked for up to 31 days."),
    ("reason-invalid", 422, "A reason to disable a link is abuse, malware, phishing, legal or other."),
    ("redirect-status-invalid", 422, "A redirect status is 301, 302, 307 or 308."),
    ("report-not-found", 404, "The link has no open reports."),
    ("report-unknown", 422, "There is no such link on this server: send the whole short address."),
    ("reports-full", 503, "Too many reports are waiting; try again later."),
    ("request-host-invalid", 400, "The request names no host, several, or different ones."),
    ("robots-invalid", 422, "`robots` is `noindex` or `index`."),
    ("rule-action", 422, "A rule has exactly one of `to`, `split` and `block`."),
    ("rule-name-taken", 422, "Two rules of a link have the same name."),
    ("rule-unreachable", 422, "A rule stands after one that applies to everybody."),
    ("rules-invalid", 422, "Something in `rules` or `split` is not known or has the wrong type; `field` says where, `detail` what is nearest."),
    ("rules-too-large", 422, "A link has at most 32 rules, 16 tests a rule, 64 values a test, 8 variants a split and 16 KiB of JSON."),
    ("scope-unknown", 422, "A scope is read, create or manage."),
    ("scopes-empty", 422, "A key needs at least one scope: read, create or manage."),
    ("search-invalid", 422, "A search has at most 200 bytes of text, a tag at most 1,020."),
    ("session-not-found", 404, "There is no such session."),
    ("share-not-found", 404, "There is no such share of analytics: it was revoked, has ended, or never existed."),
    ("shares-too-many", 422, "A workspace has at most 100 shares of analytics: revoke one first."),
    ("sign-in-needed", 403, "This needs the token of a sign-in, not an API key."),
    ("signup-closed", 403, "Registration is closed: ask the administrator for an account."),
    ("simulate-invalid", 422, "A value of a visitor who is made up is not known; `detail` says what would be right."),
    ("sort-invalid", 422, "A list can be sorted by created_at, updated_at, redirect_count or short_code, with `-` for descending order."),
    ("statement-timeout", 503, "The database took longer than `statement_timeout` and was stopped; nothing was changed. Ask for less."),
    ("status-invalid", 422, "A status is ACTIVE, EXPIRED, DELETED or DISABLED."),
    ("status-permanent", 422, "A link with rules or other settings of this kind is not answered 301 or 308, which browsers keep."),
    ("storage-full", 507, "The disk is full: nothing can be stored; existing links still work."),
    ("store-unavailable", 503, "The database does not answer right now; nothing was changed. Try again after `Retry-After` seconds."),
    ("strategy-invalid", 422, "A strategy is deterministic, counter, random or custom; a workspace's is not custom."),
    ("sync-entry-empty", 422, "An entry of a sync is a URL, or an object with `originalUrl`, or with `shortCode` and `claimToken`; empty ones are refused."),
    ("tag-invalid", 422, "A tag has 1 to 255 characters and no control characters."),
    ("tag-not-found", 404, "No link of the workspace, or of yours in `main`, has this tag."),
    ("tag-taken", 409, "Links of the workspace have the new name as a tag already: choose another name, or tag the links one by one."),
    ("tags-too-many", 422, "A link has at most 100 tags."),
    ("target-fixed", 422, "Targets cannot be changed on this server (`KURZ_TARGETS`): create another link."),
    ("title-invalid", 422, "A title has at most 512 characters and no control characters."),
    ("too-many-requests", 429, "Too many requests in a short time; `detail` says which limit, `Retry-After` when to try again."),
    ("too-many-searches", 503, "Too many searches run at the same time, of this account or in all; try again after `Retry-After` seconds."),
    ("unauthenticated", 401, "This needs a token or key: sign in first."),
    ("url-backslash", 422, "The URL has a backslash before the query: write `/` or `%5C`."),
    ("url-blocked", 422, "The URL's host or address is on this server's block list."),
    ("url-control-characters", 422, "The URL contains a control character, such as a line end."),
    ("url-empty", 422, "The URL is empty."),
    ("url-host-empty", 422, "The URL has no host."),
    ("url-host-invalid", 422, "The URL's host is neither a valid host name nor an address."),
    ("url-invalid", 422, "The URL is null: send one that starts with http:// or https://."),
    ("url-own", 422, "The page after or before a link's time is no short address of this server."),
    ("url-own-host", 422, "Where the other addresses of a host lead is on no host of this server: it could lead back."),
    ("url-port-invalid", 422, "The URL's port is not a number from 1 to 65535."),
    ("url-private-address", 422, "The URL leads into a private network, which this server does not allow."),
    ("url-scheme-missing", 422, "The URL does not start with http:// or https://."),
    ("url-scheme-not-allowed", 422, "Only http and https URLs can be shortened."),
    ("url-self-reference", 422, "The URL is a short address of this server: use the target that it leads to."),
    ("url-taken", 409, "The deterministic link of this URL belongs to somebody else: use another strategy."),
    ("url-too-long", 422, "The URL, or its canonical form, has more than 8,192 bytes."),
    ("url-userinfo-not-allowed", 422, "The URL contains a user name or password."),
    ("user-not-found", 404, "There is no such user."),
    ("utm-invalid", 422, "`utm` has texts for `source`, `medium`, `campaign`, `term` and `content`."),
    ("valid-from-after-end", 422, "`valid_from` must be before `expires_at`."),
    ("valid-from-invalid", 422, "`valid_from` is a time in RFC 3339."),
    ("validation-failed", 422, "Several fields are not valid; `errors` lists them."),
    ("visitor-unknown", 422, "A rule goes by `visitor`, and analytics are off for the link."),
    ("words-too-long", 422, "A report has at most 1,000 characters."),
    ("workspace-deleted", 409, "A workspace with this name was deleted: choose another name, or ask an administrator of the server to restore it."),
    ("workspace-id-invalid", 422, "A workspace id has 1 to 64 letters, digits, `_` and `-`."),
    ("workspace-in-use", 409, "The workspace still has links, or is `main`."),
    ("workspace-not-found", 404, "There is no such workspace."),
    ("workspace-taken", 409, "A workspace with this name already exists."),
    ("workspaces-too-many", 403, "You have created as many workspaces as an account may (`KURZ_WORKSPACE_LIMIT`): delete one first."),
    ("wrong-credentials", 401, "The email address or the password is wrong."),
    ("wrong-password", 403, "The password that confirms the change is wrong."),
    ("zone-unknown", 422, "A time zone has a name of the IANA database, such as Europe/Berlin."),
];

/// Whether a problem may say this.
pub(super) fn knows(code: &str, status: u16) -> bool {
    CATALOGUE.iter().any(|(known, expected, _)| *known == code && *expected == status)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// The text of `docs/ERRORS.md`.
    fn document() -> String {
        let mut text = "# Errors\n\n\
            Every error of the API is an `application/problem+json` (RFC 9457) with one of these codes, which do not \
            change.\n`detail` is a sentence for people; `errors` lists fields. This page is generated: \
            `UPDATE_DOCS=1 ./scripts/test docs`.\n\n\
            | code | status | meaning |\n|---|---|---|\n"
            .to_owned();
        for (code, status, meaning) in CATALOGUE {
            writeln!(text, "| `{code}` | {status} | {meaning} |").unwrap();
        }
        text
    }

    #[test]
    fn codes_come_once_and_in_order() {
        assert!(CATALOGUE.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn docs_errors_md_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ERRORS.md");
        #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not a setting")]
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, document()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == document(), "run UPDATE_DOCS=1 ./scripts/test docs");
    }
}

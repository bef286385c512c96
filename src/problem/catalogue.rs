//! Every error code of the API, with its status and its meaning. `docs/ERRORS.md` is made from this list.
//!
//! Invariant: a problem has a code of this list with its status. Debug builds, and so all tests, assert it.

/// A code: its name, its HTTP status, what it means and what to do.
pub(super) type CatalogueEntry = (&'static str, u16, &'static str);

#[rustfmt::skip]
pub(super) const CATALOGUE: &[CatalogueEntry] = &[
    ("body-incomplete", 400, "The request body ended early."),
    ("body-invalid", 422, "The JSON has an unknown, repeated, missing or mistyped field; `detail` names it."),
    ("body-not-utf8", 400, "The request body is not UTF-8 text."),
    ("body-too-large", 413, "The body is larger than the endpoint accepts: 64 KiB, or 1 MiB for bulk calls."),
    ("bulk-empty", 422, "A bulk call needs at least one link."),
    ("bulk-refused", 422, "An atomic bulk call stored nothing, because one of its links was refused."),
    ("bulk-too-large", 413, "A bulk call takes at most 1,000 links."),
    ("busy", 503, "Too many people are signing in right now; try again after `Retry-After` seconds."),
    ("changed-meanwhile", 409, "Somebody else changed the link at the same time: read it again and retry."),
    ("claim-not-found", 404, "No link that can be claimed has this code and token: it is claimed already, has expired, or never existed."),
    ("claims-size", 422, "A call can claim 1 to 100 links."),
    ("code-invalid", 422, "A custom code has 3 to 64 letters, digits, `_` and `-`."),
    ("code-missing", 422, "The strategy `custom` needs a `custom_code`."),
    ("code-reserved", 422, "The custom code is reserved for a page or endpoint of kurz."),
    ("code-taken", 409, "The custom code belongs, or once belonged, to another target: choose another one."),
    ("content-type-unsupported", 415, "A request with a cookie needs the content type that `detail` names."),
    ("counters-unavailable", 503, "The hits of the link's limit cannot be counted: the database does not answer, or Redis is away and the server is to wait for it; try again after `Retry-After` seconds."),
    ("csrf", 403, "A request with a cookie, or to a server in open mode, came from a page of another site."),
    ("cursor-invalid", 422, "The cursor does not belong to this list: leave it out to start over."),
    ("custom-code-limit", 429, "You have chosen as many custom codes in the workspace `main` as you may in a month (`KURZ_CUSTOM_CODE_LIMIT`); `Retry-After` says when the next month begins."),
    ("email-invalid", 422, "An email address has at most 254 bytes, one @, and no spaces or control characters."),
    ("email-taken", 409, "An account with this email address already exists."),
    ("expires-at-past", 422, "`expires_at` must be in the future."),
    ("expires-at-too-late", 422, "A link created without an account cannot expire later than the server allows."),
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
    ("limit-invalid", 422, "A page has 1 to 1,000 entries."),
    ("link-disabled", 410, "The operator of the server disabled the link; `detail` says why."),
    ("link-expired", 410, "The link has expired."),
    ("link-locked", 403, "The operator of the server disabled the link: it can be neither edited nor created again."),
    ("link-not-found", 404, "There is no such link, or it was deleted."),
    ("link-purged", 410, "The link was deleted and then purged, so it cannot be restored; `detail` says when it was purged."),
    ("main-has-no-members", 422, "Everybody has their own links in `main`: create a workspace for a team."),
    ("member-not-found", 404, "The workspace has no such member."),
    ("member-taken", 409, "This user is already a member."),
    ("members-too-many", 409, "A workspace has at most 1,000 members."),
    ("method-not-allowed", 405, "The address does not support this method; `Allow` lists those it does."),
    ("missing-role", 403, "This needs a higher role in the workspace; `detail` names it."),
    ("missing-scope", 403, "The key lacks a scope; `detail` names it."),
    ("monthly-limit", 429, "You have created as many links as you may in a month; `Retry-After` says when the next month begins."),
    ("name-invalid", 422, "A name has at most 100 characters and no control characters."),
    ("no-free-code", 500, "All codes that were tried are taken; nothing was stored. See the runbook for collisions."),
    ("not-deleted", 409, "Only a deleted link can be restored."),
    ("not-disabled", 409, "Only a disabled link can be enabled."),
    ("not-found", 404, "There is nothing at this address."),
    ("not-owner", 403, "The link belongs to somebody else."),
    ("note-invalid", 422, "A note has at most 500 characters and no control characters."),
    ("owner-deleted", 409, "The account that the link belonged to is deleted, so the link cannot be restored."),
    ("password-characters", 422, "A password cannot contain a NUL character."),
    ("password-length", 422, "A password has 8 to 71 characters."),
    ("qr-colour-invalid", 422, "A QR code's colours are six hexadecimal digits, such as 1a2b3c."),
    ("qr-format-invalid", 422, "A QR code is an svg or a png."),
    ("qr-size-invalid", 422, "A QR code's size is a whole number from 64 to 1024."),
    ("qr-too-long", 422, "The address is too long for a QR code."),
    ("query-invalid", 422, "The query string has an unknown, repeated or unreadable parameter."),
    ("reason-invalid", 422, "A reason to disable a link is abuse, malware, phishing, legal or other."),
    ("redirect-status-invalid", 422, "A redirect status is 301, 302, 307 or 308."),
    ("report-not-found", 404, "The link has no open reports."),
    ("report-unknown", 422, "There is no such link on this server: send the whole short address."),
    ("reports-full", 503, "Too many reports are waiting; try again later."),
    ("request-host-invalid", 400, "The request names no host, several, or different ones."),
    ("scope-unknown", 422, "A scope is read, create or manage."),
    ("scopes-empty", 422, "A key needs at least one scope: read, create or manage."),
    ("search-invalid", 422, "A search or tag has at most 200 bytes of text."),
    ("session-not-found", 404, "There is no such session."),
    ("sign-in-needed", 403, "This needs the token of a sign-in, not an API key."),
    ("signup-closed", 403, "Registration is closed: ask the administrator for an account."),
    ("sort-invalid", 422, "A list can be sorted by created_at, updated_at, redirect_count or short_code, with `-` for descending order."),
    ("statement-timeout", 503, "The database took longer than `statement_timeout` and was stopped; nothing was changed. Ask for less."),
    ("status-invalid", 422, "A status is ACTIVE, EXPIRED, DELETED or DISABLED."),
    ("storage-full", 507, "The disk is full: nothing can be stored; existing links still work."),
    ("store-unavailable", 503, "The database does not answer right now; nothing was changed. Try again after `Retry-After` seconds."),
    ("strategy-invalid", 422, "A strategy is deterministic, counter, random or custom; a workspace's is not custom."),
    ("sync-entry-empty", 422, "An entry of a sync is a URL, or an object with `originalUrl`, or with `shortCode` and `claimToken`; empty ones are refused."),
    ("tag-invalid", 422, "A tag has 1 to 50 characters and no control characters."),
    ("tags-too-many", 422, "A link has at most 20 tags."),
    ("target-fixed", 422, "Targets cannot be changed on this server (`KURZ_TARGETS`): create another link."),
    ("title-invalid", 422, "A title has at most 200 characters and no control characters."),
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
    ("url-port-invalid", 422, "The URL's port is not a number from 1 to 65535."),
    ("url-private-address", 422, "The URL leads into a private network, which this server does not allow."),
    ("url-scheme-missing", 422, "The URL does not start with http:// or https://."),
    ("url-scheme-not-allowed", 422, "Only http and https URLs can be shortened."),
    ("url-self-reference", 422, "The URL is a short address of this server: use the target that it leads to."),
    ("url-taken", 409, "The deterministic link of this URL belongs to somebody else: use another strategy."),
    ("url-too-long", 422, "The URL, or its canonical form, has more than 8,192 bytes."),
    ("url-userinfo-not-allowed", 422, "The URL contains a user name or password."),
    ("user-not-found", 404, "There is no such user."),
    ("validation-failed", 422, "Several fields are not valid; `errors` lists them."),
    ("words-too-long", 422, "A report has at most 1,000 characters."),
    ("workspace-deleted", 409, "A workspace with this name was deleted: choose another name, or ask an administrator of the server to restore it."),
    ("workspace-id-invalid", 422, "A workspace id has 1 to 64 letters, digits, `_` and `-`."),
    ("workspace-in-use", 409, "The workspace still has links, or is `main`."),
    ("workspace-not-found", 404, "There is no such workspace."),
    ("workspace-taken", 409, "A workspace with this name already exists."),
    ("workspaces-too-many", 403, "You have created as many workspaces as an account may (`KURZ_WORKSPACE_LIMIT`): delete one first."),
    ("wrong-credentials", 401, "The email address or the password is wrong."),
    ("wrong-password", 403, "The password that confirms the change is wrong."),
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

//! Words for signing in, and for one's own account.

super::words! {
    /// Sign-in and account.
    Account {
        log_in: "Log in", "Anmelden", "Entrar";
        register: "Make an account", "Konto anlegen", "Crear una cuenta";
        email: "Email address", "E-Mail-Adresse", "Correo electrónico";
        password: "Password", "Passwort", "Contraseña";
        password_rule: "8 to 71 bytes", "8 bis 71 Bytes", "De 8 a 71 bytes";
        name: "Name (optional)", "Name (freiwillig)", "Nombre (opcional)";
        invite: "Invitation", "Einladung", "Invitación";
        new_here: "No account yet?", "Noch kein Konto?", "¿Aún sin cuenta?";
        known_here: "You have an account?", "Du hast schon ein Konto?", "¿Ya tienes cuenta?";
        signup_closed: "New accounts are made by the administrator of this server.", "Neue Konten legt die Verwaltung dieses Servers an.", "Las cuentas nuevas las crea la administración de este servidor.";
        title: "Your account", "Dein Konto", "Tu cuenta";
        since: "Member since", "Dabei seit", "Miembro desde";
        change_password: "Change the password", "Passwort ändern", "Cambiar la contraseña";
        current: "Current password", "Bisheriges Passwort", "Contraseña actual";
        new: "New password", "Neues Passwort", "Contraseña nueva";
        password_changed: "The password is changed. All other browsers and tokens are signed out.", "Das Passwort ist geändert. Alle anderen Browser und Tokens sind abgemeldet.", "La contraseña ha cambiado. Los demás navegadores y tokens han salido.";
        sessions: "Signed-in browsers", "Angemeldete Browser", "Navegadores conectados";
        browser: "Browser", "Browser", "Navegador";
        signed_in: "Signed in", "Angemeldet", "Entró";
        seen: "Last seen", "Zuletzt gesehen", "Visto por última vez";
        this_one: "this browser", "dieser Browser", "este navegador";
        end: "Sign out", "Abmelden", "Cerrar";
        end_all: "Sign out everywhere", "Überall abmelden", "Cerrar en todas partes";
        session_ended: "That browser is signed out.", "Dieser Browser ist abgemeldet.", "Ese navegador ha salido.";
        delete: "Delete the account", "Konto löschen", "Eliminar la cuenta";
        delete_text: "Your account, keys and memberships go, and your own links are deleted. This cannot be undone.", "Konto, Schlüssel und Mitgliedschaften verschwinden, deine eigenen Links werden gelöscht. Das lässt sich nicht rückgängig machen.", "Se van tu cuenta, tus claves y tus pertenencias, y se eliminan tus enlaces. No se puede deshacer.";
        delete_button: "Delete my account", "Mein Konto löschen", "Eliminar mi cuenta";
        deleted: "The account is deleted.", "Das Konto ist gelöscht.", "La cuenta está eliminada.";
        keys: "API keys", "API-Schlüssel", "Claves de API";
        keys_text: "For programs that act for you. A key is shown once.", "Für Programme, die für dich handeln. Ein Schlüssel wird einmal gezeigt.", "Para programas que actúan por ti. Una clave se muestra una sola vez.";
        key_name: "Name of the key", "Name des Schlüssels", "Nombre de la clave";
        key: "Key", "Schlüssel", "Clave";
        scopes: "Good for", "Gut für", "Sirve para";
        scope_read: "looking", "Ansehen", "mirar";
        scope_create: "making links", "Links anlegen", "crear enlaces";
        scope_manage: "everything else", "alles andere", "todo lo demás";
        key_workspace: "Only for workspace", "Nur für Arbeitsbereich", "Solo para el espacio";
        any_workspace: "every workspace", "jeder Arbeitsbereich", "cualquier espacio";
        key_expires: "Good until (UTC, empty: for good)", "Gültig bis (UTC, leer: unbegrenzt)", "Válida hasta (UTC, vacío: siempre)";
        key_made: "This is the new key. Copy it now: it is not shown again.", "Das ist der neue Schlüssel. Kopiere ihn jetzt: Er wird nicht noch einmal gezeigt.", "Esta es la clave nueva. Cópiala ahora: no se mostrará otra vez.";
        make_key: "Make a key", "Schlüssel anlegen", "Crear una clave";
        revoke: "Take back", "Zurückziehen", "Revocar";
        revoked: "The key is taken back.", "Der Schlüssel ist zurückgezogen.", "La clave está revocada.";
        last_used: "Last used", "Zuletzt benutzt", "Último uso";
        until: "Until", "Bis", "Hasta";
    }
}

//! Words for signing in, and for one's own account.

super::words! {
    Account {
        log_in: "Sign in", "Anmelden", "Iniciar sesión";
        register: "Create an account", "Konto erstellen", "Crear una cuenta";
        email: "Email address", "E-Mail-Adresse", "Correo electrónico";
        password: "Password", "Passwort", "Contraseña";
        password_rule: "8 to 71 characters", "8 bis 71 Zeichen", "De 8 a 71 caracteres";
        name: "Name (optional)", "Name (optional)", "Nombre (opcional)";
        invite: "Invitation", "Einladung", "Invitación";
        new_here: "No account yet?", "Noch kein Konto?", "¿Aún no tienes cuenta?";
        known_here: "Already have an account?", "Du hast schon ein Konto?", "¿Ya tienes cuenta?";
        signup_closed: "New accounts are created by the administrator of this server.", "Neue Konten legt die Administration dieses Servers an.", "Las cuentas nuevas las crea la administración de este servidor.";
        title: "Your account", "Dein Konto", "Tu cuenta";
        since: "Member since", "Dabei seit", "Miembro desde";
        change_password: "Change password", "Passwort ändern", "Cambiar la contraseña";
        current: "Current password", "Aktuelles Passwort", "Contraseña actual";
        new: "New password", "Neues Passwort", "Contraseña nueva";
        keys_stay: "API keys keep working after a change of the password.", "API-Schlüssel funktionieren nach einer Änderung des Passworts weiter.", "Las claves de API siguen funcionando tras cambiar la contraseña.";
        revoke_keys: "Revoke all my API keys as well ({})", "Auch alle meine API-Schlüssel widerrufen ({})", "Revocar también todas mis claves de API ({})";
        password_changed_keys: "Password changed. All other browsers and tokens are signed out. Your API keys still work: revoke them below if somebody else may have one.", "Passwort geändert. Alle anderen Browser und Tokens sind abgemeldet. Deine API-Schlüssel funktionieren weiter: Widerrufe sie unten, wenn jemand anderes einen haben könnte.", "Contraseña cambiada. Se ha cerrado la sesión en los demás navegadores y tokens. Tus claves de API siguen funcionando: revócalas abajo si otra persona puede tener una.";
        password_changed_revoked: "Password changed. All other browsers and tokens are signed out, and all API keys are revoked.", "Passwort geändert. Alle anderen Browser und Tokens sind abgemeldet, alle API-Schlüssel sind widerrufen.", "Contraseña cambiada. Se ha cerrado la sesión en los demás navegadores y tokens, y se han revocado todas las claves de API.";
        password_changed: "Password changed. All other browsers and tokens are signed out.", "Passwort geändert. Alle anderen Browser und Tokens sind abgemeldet.", "Contraseña cambiada. Se ha cerrado la sesión en los demás navegadores y los demás tokens ya no valen.";
        sessions: "Signed-in browsers", "Angemeldete Browser", "Navegadores con sesión iniciada";
        browser: "Browser", "Browser", "Navegador";
        signed_in: "Signed in", "Angemeldet", "Inicio de sesión";
        seen: "Last seen", "Zuletzt aktiv", "Última actividad";
        this_one: "this browser", "dieser Browser", "este navegador";
        end: "Sign out", "Abmelden", "Cerrar sesión";
        end_all: "Sign out everywhere", "Überall abmelden", "Cerrar sesión en todas partes";
        session_ended: "That browser is signed out.", "Dieser Browser ist abgemeldet.", "Se ha cerrado la sesión en ese navegador.";
        delete: "Delete account", "Konto löschen", "Eliminar la cuenta";
        delete_text: "Your account, keys and memberships are removed, and your own links are deleted. This cannot be undone.", "Konto, Schlüssel und Mitgliedschaften werden entfernt, deine eigenen Links gelöscht. Das lässt sich nicht rückgängig machen.", "Se eliminarán tu cuenta, tus claves, tus membresías y tus enlaces. No se puede deshacer.";
        delete_button: "Delete my account", "Mein Konto löschen", "Eliminar mi cuenta";
        deleted: "Account deleted.", "Konto gelöscht.", "Cuenta eliminada.";
        keys: "API keys", "API-Schlüssel", "Claves de API";
        keys_text: "For programs that act on your behalf. A key is shown once.", "Für Programme, die in deinem Namen handeln. Ein Schlüssel wird nur einmal angezeigt.", "Para programas que actúan en tu nombre. Una clave se muestra una sola vez.";
        key_name: "Name of the key", "Name des Schlüssels", "Nombre de la clave";
        key: "Key", "Schlüssel", "Clave";
        scopes: "Scopes", "Berechtigungen", "Permisos";
        scope_read: "read", "lesen", "leer";
        scope_create: "create links", "Links erstellen", "crear enlaces";
        scope_manage: "manage everything else", "alles andere verwalten", "gestionar todo lo demás";
        key_workspace: "Workspace", "Arbeitsbereich", "Espacio";
        any_workspace: "all workspaces", "alle Arbeitsbereiche", "todos los espacios";
        key_expires: "Expires (UTC, empty: never)", "Läuft ab (UTC, leer: nie)", "Caduca (UTC, vacío: nunca)";
        key_made: "This is the new key. Copy it now: it will not be shown again.", "Das ist der neue Schlüssel. Kopiere ihn jetzt: Er wird nicht noch einmal angezeigt.", "Esta es la clave nueva. Cópiala ahora: no volverá a mostrarse.";
        make_key: "Create key", "Schlüssel erstellen", "Crear clave";
        revoke: "Revoke", "Widerrufen", "Revocar";
        revoked: "Key revoked.", "Schlüssel widerrufen.", "Clave revocada.";
        last_used: "Last used", "Zuletzt verwendet", "Último uso";
        until: "Expires", "Läuft ab", "Caduca";
    }
}

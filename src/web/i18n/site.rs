//! Words that stand on every page, and those that many pages share.

super::words! {
    Site {
        tagline: "Short links that last as long as you want.", "Kurze Links, die so lange halten, wie du willst.", "Enlaces cortos que duran lo que tú quieras.";
        skip: "Skip to content", "Zum Inhalt springen", "Saltar al contenido";
        navigation: "Main menu", "Hauptmenü", "Menú principal";
        shorten: "Shorten", "Kürzen", "Acortar";
        links: "Links", "Links", "Enlaces";
        workspaces: "Workspaces", "Arbeitsbereiche", "Espacios";
        account: "Account", "Konto", "Cuenta";
        administration: "Administration", "Verwaltung", "Administración";
        log_in: "Sign in", "Anmelden", "Iniciar sesión";
        log_out: "Sign out", "Abmelden", "Cerrar sesión";
        register: "Register", "Registrieren", "Registrarse";
        language: "Language", "Sprache", "Idioma";
        choose: "Choose", "Wählen", "Elegir";
        api: "API", "API", "API";
        save: "Save", "Speichern", "Guardar";
        cancel: "Cancel", "Abbrechen", "Cancelar";
        copy: "Copy", "Kopieren", "Copiar";
        copied: "Copied", "Kopiert", "Copiado";
        undo: "Undo", "Rückgängig", "Deshacer";
        delete: "Delete", "Löschen", "Eliminar";
        remove: "Remove", "Entfernen", "Quitar";
        more: "Next page", "Nächste Seite", "Página siguiente";
        first: "First page", "Erste Seite", "Primera página";
        never: "never", "nie", "nunca";
        saved: "Saved.", "Gespeichert.", "Guardado.";
        removed: "Removed.", "Entfernt.", "Quitado.";
        open_server: "This server is open: everybody who can reach it may do everything.", "Dieser Server ist offen: Wer ihn erreicht, darf alles.", "Este servidor está abierto: cualquiera que acceda a él puede hacerlo todo.";
        claimed: "Links created in this browser are now yours:", "Links aus diesem Browser gehören jetzt dir:", "Los enlaces creados en este navegador ya son tuyos:";
    }
}

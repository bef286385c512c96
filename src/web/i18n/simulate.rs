//! Words of the page that tries a link's rules.

super::words! {
    SimulateWords {
        title: "Try {}", "{} ausprobieren", "Probar {}";
        intro: "Choose a visitor and see what they would get. Nothing is counted and no limit is used.", "Wähle einen Besucher und sieh, was er bekäme. Es wird nichts gezählt und kein Limit verbraucht.", "Elige un visitante y mira qué obtendría. No se cuenta nada ni se gasta ningún límite.";
        unsaved: "These rules are not saved yet.", "Diese Regeln sind noch nicht gespeichert.", "Estas reglas aún no están guardadas.";
        back: "Back to the editor", "Zurück zum Editor", "Volver al editor";
        visitor: "Visitor", "Besucher", "Visitante";
        country: "Country", "Land", "País";
        country_own: "by the address", "nach der Adresse", "según la dirección";
        language: "Language", "Sprache", "Idioma";
        device: "Device", "Gerät", "Dispositivo";
        device_own: "this browser", "dieser Browser", "este navegador";
        device_other: "another user agent", "anderer User-Agent", "otro agente de usuario";
        preview_bot: "Link preview of a chat", "Linkvorschau eines Chats", "Vista previa de un chat";
        search_bot: "Search engine", "Suchmaschine", "Buscador";
        user_agent: "User agent", "User-Agent", "Agente de usuario";
        address: "Network address", "Netzadresse", "Dirección de red";
        referrer: "Referrer", "Verweis", "Procedencia";
        query: "Query", "Abfrage", "Consulta";
        at: "Time (UTC, empty: now)", "Zeit (UTC, leer: jetzt)", "Hora (UTC, vacío: ahora)";
        visits: "Visit", "Besuch", "Visita";
        visits_any: "not known", "nicht bekannt", "no se sabe";
        run: "Try it", "Ausprobieren", "Probar";
        result: "Result", "Ergebnis", "Resultado";
        rule_fires: "Rule {} decides: {}", "Regel {} entscheidet: {}", "Decide la regla {}: {}";
        rule_fires_unnamed: "Rule {} decides.", "Regel {} entscheidet.", "Decide la regla {}.";
        no_rule: "No rule holds: the visitor goes to the target.", "Keine Regel trifft zu: Der Besucher geht zum Ziel.", "No se cumple ninguna regla: el visitante va al destino.";
        no_rule_split: "No rule holds: the split decides.", "Keine Regel trifft zu: Die Aufteilung entscheidet.", "No se cumple ninguna regla: decide el reparto.";
        goes_to: "Goes to", "Geht zu", "Va a";
        status: "Answer", "Antwort", "Respuesta";
        counts: "Counts as a click", "Zählt als Klick", "Cuenta como clic";
        yes: "yes", "ja", "sí";
        no: "no", "nein", "no";
        unknown: "unknown", "unbekannt", "desconocido";
        why: "Why", "Warum", "Por qué";
        rule: "Rule", "Regel", "Regla";
        test: "Test", "Bedingung", "Condición";
        value: "Visitor has", "Besucher hat", "El visitante tiene";
        holds: "Holds", "Trifft zu", "Se cumple";
        no_tests: "No rule was looked at.", "Es wurde keine Regel geprüft.", "No se miró ninguna regla.";
        step_not_found: "The link is not there.", "Den Link gibt es nicht.", "El enlace no existe.";
        step_withheld: "The link is disabled.", "Der Link ist gesperrt.", "El enlace está desactivado.";
        step_pending: "The link has not started yet.", "Der Link hat noch nicht begonnen.", "El enlace aún no ha empezado.";
        step_expired: "The link has ended.", "Der Link ist abgelaufen.", "El enlace ha terminado.";
        step_used_up: "The link is used up.", "Der Link ist verbraucht.", "El enlace está agotado.";
        step_card: "The visitor is a link preview and gets the card.", "Der Besucher ist eine Linkvorschau und bekommt die Karte.", "El visitante es una vista previa y recibe la tarjeta.";
        step_password: "The visitor is asked for the password.", "Der Besucher wird nach dem Passwort gefragt.", "Se pide la contraseña al visitante.";
        step_blocked: "The visitor is blocked.", "Der Besucher wird gesperrt.", "El visitante queda bloqueado.";
        step_quota: "The limit is used up.", "Das Limit ist verbraucht.", "El límite está agotado.";
        step_fallback: "The target is down: the visitor goes elsewhere meanwhile.", "Das Ziel ist nicht erreichbar: Der Besucher geht solange anderswohin.", "El destino no responde: el visitante va a otro lugar mientras tanto.";
        step_consent: "The visitor sees a page before the target.", "Der Besucher sieht eine Seite vor dem Ziel.", "El visitante ve una página antes del destino.";
        step_app: "The visitor sees a page that opens the app.", "Der Besucher sieht eine Seite, die die App öffnet.", "El visitante ve una página que abre la app.";
        step_redirect: "The visitor is sent on.", "Der Besucher wird weitergeleitet.", "El visitante es enviado al destino.";
    }
}

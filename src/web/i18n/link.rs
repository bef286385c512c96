//! Words of a link's page and of its preview.

super::words! {
    LinkWords {
        target: "Leads to", "Führt zu", "Lleva a";
        canonical: "Canonical form", "Kanonische Form", "Forma canónica";
        code: "Code", "Code", "Código";
        made_by: "type:", "Art:", "tipo:";
        deterministic: "from the address and the workspace; the same address always gets this code", "aus Adresse und Arbeitsbereich; dieselbe Adresse bekommt immer diesen Code", "de la dirección y el espacio; la misma dirección recibe siempre este código";
        counter: "a scrambled counter", "verschleierter Zähler", "contador ofuscado";
        random: "random characters", "zufällige Zeichen", "caracteres aleatorios";
        custom: "custom", "selbst gewählt", "personalizado";
        created: "Created", "Erstellt", "Creado";
        changed: "Changed", "Geändert", "Modificado";
        expires: "Expires", "Läuft ab", "Caduca";
        never: "never", "nie", "nunca";
        redirect: "Redirect", "Weiterleitung", "Redirección";
        clicks: "Clicks", "Klicks", "Clics";
        others: "bots and previews", "Bots und Vorschauen", "bots y vistas previas";
        last_click: "Last click", "Letzter Klick", "Último clic";
        latency: "Mean time to redirect", "Mittlere Dauer", "Tiempo medio";
        over_time: "Clicks over time", "Klicks im Zeitverlauf", "Clics a lo largo del tiempo";
        hours: "Hours", "Stunden", "Horas";
        days: "Days", "Tage", "Días";
        months: "Months", "Monate", "Meses";
        table: "As a table", "Als Tabelle", "Como tabla";
        period: "Period (UTC)", "Zeitraum (UTC)", "Periodo (UTC)";
        chart: "Bar chart of clicks; the table below has the numbers.", "Balkendiagramm der Klicks; die Zahlen stehen in der Tabelle darunter.", "Gráfico de barras de los clics; la tabla siguiente tiene las cifras.";
        no_clicks: "No clicks in this period.", "Keine Klicks in diesem Zeitraum.", "Sin clics en este periodo.";
        quota: "This month", "Diesen Monat", "Este mes";
        quota_of: "of", "von", "de";
        quota_left: "{} left", "{} übrig", "quedan {}";
        quota_resets: "Resets on", "Wird zurückgesetzt am", "Se reinicia el";
        no_limit: "no limit", "unbegrenzt", "sin límite";
        health: "Target", "Ziel", "Destino";
        health_unknown: "not checked yet", "noch nicht geprüft", "aún sin comprobar";
        checked: "checked", "geprüft", "comprobado";
        history: "History", "Verlauf", "Historial";
        edited: "changed", "geändert", "modificado";
        deleted: "deleted", "gelöscht", "eliminado";
        restored: "restored", "wiederhergestellt", "restaurado";
        claimed: "claimed", "übernommen", "reclamado";
        disabled: "disabled", "gesperrt", "desactivado";
        enabled: "enabled", "freigegeben", "activado";
        made: "created", "erstellt", "creado";
        somebody: "somebody", "jemand", "alguien";
        with_key: "with a key", "mit einem Schlüssel", "con una clave";
        led_to: "previous target:", "vorheriges Ziel:", "destino anterior:";
        qr: "QR code", "QR-Code", "Código QR";
        qr_size: "Size in pixels", "Größe in Pixeln", "Tamaño en píxeles";
        qr_dark: "Colour", "Farbe", "Color";
        qr_light: "Background", "Hintergrund", "Fondo";
        qr_svg: "Download SVG", "SVG herunterladen", "Descargar SVG";
        qr_png: "Download PNG", "PNG herunterladen", "Descargar PNG";
        qr_show: "Update", "Aktualisieren", "Actualizar";
        restore: "Restore", "Wiederherstellen", "Restaurar";
        preview_title: "Where this link leads", "Wohin dieser Link führt", "Adónde lleva este enlace";
        preview_go: "Go there", "Weiter zum Ziel", "Ir al destino";
        preview_age: "Created", "Erstellt", "Creado";
        preview_expired: "This link has expired.", "Dieser Link ist abgelaufen.", "Este enlace ha caducado.";
        preview_disabled: "This link is disabled.", "Dieser Link ist gesperrt.", "Este enlace está desactivado.";
        field_original_url: "address", "Adresse", "dirección";
        field_title: "title", "Titel", "título";
        field_tags: "tags", "Schlagwörter", "etiquetas";
        field_expires_at: "expiry", "Ablauf", "caducidad";
        field_hit_limit: "limit", "Limit", "límite";
        field_redirect_status: "redirect", "Weiterleitung", "redirección";
    }
}

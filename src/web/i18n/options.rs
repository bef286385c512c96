//! Words of a link's options beside its rules (schedule, limits, password, pages before the target), and of a
//! workspace's defaults.

super::words! {
    OptionWords {
        title: "Options of {}", "Optionen von {}", "Opciones de {}";
        saved: "The options are saved.", "Die Optionen sind gespeichert.", "Las opciones se han guardado.";
        schedule: "Schedule and limits", "Zeitplan und Limits", "Calendario y límites";
        valid_from: "Starts (UTC, empty: at once)", "Beginnt (UTC, leer: sofort)", "Empieza (UTC, vacío: ya)";
        expires_at: "Ends (UTC, empty: never)", "Endet (UTC, leer: nie)", "Termina (UTC, vacío: nunca)";
        hit_limit: "Clicks per month (empty: default limit, 0: no limit)", "Klicks pro Monat (leer: Standardlimit, 0: unbegrenzt)", "Clics al mes (vacío: límite predeterminado, 0: sin límite)";
        click_limit: "Clicks in the link’s whole life (empty: no limit)", "Klicks im ganzen Leben des Links (leer: unbegrenzt)", "Clics en toda la vida del enlace (vacío: sin límite)";
        click_limit_hint: "1 makes a one-time link. Bots and link previews use up nothing.", "1 ergibt einen Einmal-Link. Bots und Vorschauen verbrauchen nichts.", "1 crea un enlace de un solo uso. Los bots y las vistas previas no gastan nada.";
        password: "Password", "Passwort", "Contraseña";
        password_set: "Set a password", "Passwort setzen", "Poner contraseña";
        password_change: "New password (empty: the present one stays)", "Neues Passwort (leer: das jetzige bleibt)", "Contraseña nueva (vacío: queda la actual)";
        password_hint: "4 to 71 characters. Visitors are asked for it before they are sent on.", "4 bis 71 Zeichen. Besucher werden danach gefragt, bevor sie weitergeleitet werden.", "De 4 a 71 caracteres. Se pide a los visitantes antes de enviarlos al destino.";
        password_is_set: "This link has a password.", "Dieser Link hat ein Passwort.", "Este enlace tiene contraseña.";
        password_remove: "Remove the password", "Passwort entfernen", "Quitar la contraseña";
        elsewhere: "Where else it leads", "Wohin er sonst führt", "Adónde más lleva";
        expired_url: "After the end, or when used up", "Nach dem Ende, oder wenn verbraucht", "Después del final, o al agotarse";
        pending_url: "Before the start", "Vor dem Beginn", "Antes del comienzo";
        fallback_url: "While the target is down", "Solange das Ziel nicht erreichbar ist", "Mientras el destino no responda";
        empty_page: "Empty: visitors see a page that says so.", "Leer: Besucher sehen eine Seite, die das sagt.", "Vacío: los visitantes ven una página que lo indica.";
        empty_target: "Empty: visitors go to the target all the same.", "Leer: Besucher gehen trotzdem zum Ziel.", "Vacío: los visitantes van al destino de todos modos.";
        parameters: "Parameters", "Parameter", "Parámetros";
        query: "Query of the short address", "Abfrage der Kurzadresse", "Consulta de la dirección corta";
        query_drop: "is dropped", "entfällt", "se descarta";
        query_merge: "is added to the target’s; the target’s own parameters win", "wird an die des Ziels gehängt; dessen eigene Parameter gewinnen", "se añade a la del destino; ganan los parámetros propios del destino";
        as_workspace: "as the workspace says ({})", "wie der Arbeitsbereich sagt ({})", "lo que dice el espacio ({})";
        utm: "Campaign parameters (UTM)", "Kampagnenparameter (UTM)", "Parámetros de campaña (UTM)";
        utm_hint: "Added where the target has none. Placeholders:", "Werden ergänzt, wo das Ziel keine hat. Platzhalter:", "Se añaden donde el destino no los tiene. Marcadores:";
        consent: "Page before the target", "Seite vor dem Ziel", "Página antes del destino";
        consent_show: "Show it", "Anzeigen", "Mostrarla";
        consent_none: "never", "nie", "nunca";
        consent_always: "every time", "jedes Mal", "siempre";
        consent_once: "once to each visitor", "jedem Besucher einmal", "una vez a cada visitante";
        consent_text: "Text", "Text", "Texto";
        consent_text_hint: "Plain text; empty: a sentence that names the target’s host.", "Reiner Text; leer: ein Satz, der den Host des Ziels nennt.", "Texto sin formato; vacío: una frase con el dominio del destino.";
        consent_button: "Button", "Knopf", "Botón";
        app: "Apps", "Apps", "Aplicaciones";
        app_text: "Phones open the app if it is installed, else its store.", "Telefone öffnen die App, wenn sie installiert ist, sonst ihren Store.", "Los teléfonos abren la app si está instalada; si no, su tienda.";
        app_id: "App id (team and bundle)", "App-ID (Team und Bundle)", "ID de la app (equipo y bundle)";
        package: "Package", "Paket", "Paquete";
        sha256: "Fingerprints of the certificates (SHA-256), one per line", "Fingerabdrücke der Zertifikate (SHA-256), einer pro Zeile", "Huellas de los certificados (SHA-256), una por línea";
        app_path: "Path in the app", "Pfad in der App", "Ruta en la app";
        store_url: "Address in the store", "Adresse im Store", "Dirección en la tienda";
        card: "Preview card", "Vorschaukarte", "Tarjeta de vista previa";
        card_text: "What chat programs and social networks show instead of the target’s own preview.", "Was Chat-Programme und soziale Netzwerke statt der Vorschau des Ziels zeigen.", "Lo que muestran los chats y redes sociales en vez de la vista previa del destino.";
        card_title: "Title", "Titel", "Título";
        card_description: "Description", "Beschreibung", "Descripción";
        card_image: "Address of an image", "Adresse eines Bildes", "Dirección de una imagen";
        card_preview: "How it looks", "So sieht sie aus", "Así se ve";
        card_update: "Update the preview", "Vorschau aktualisieren", "Actualizar la vista previa";
        card_no_title: "(title)", "(Titel)", "(título)";
        card_image_hint: "The image is not loaded here: this page loads nothing from other servers.", "Das Bild wird hier nicht geladen: Diese Seite lädt nichts von anderen Servern.", "La imagen no se carga aquí: esta página no carga nada de otros servidores.";
        robots: "Search engines", "Suchmaschinen", "Buscadores";
        robots_label: "The short address", "Die Kurzadresse", "La dirección corta";
        robots_noindex: "is not listed", "wird nicht aufgenommen", "no se incluye";
        robots_index: "may be listed", "darf aufgenommen werden", "se puede incluir";
        save: "Save options", "Optionen speichern", "Guardar opciones";
        starts: "Starts", "Beginnt", "Empieza";
        defaults: "Defaults of links", "Vorgaben für Links", "Valores predeterminados de los enlaces";
        defaults_text: "What links of this workspace do that say nothing themselves.", "Was Links dieses Arbeitsbereichs tun, die selbst nichts sagen.", "Lo que hacen los enlaces de este espacio que no indican nada.";
        defaults_show: "Query, campaign, expired links, search engines, page before the target", "Abfrage, Kampagne, abgelaufene Links, Suchmaschinen, Seite vor dem Ziel", "Consulta, campaña, enlaces caducados, buscadores, página antes del destino";
        server_default: "default ({})", "Standard ({})", "predeterminado ({})";
        is_set: "yes", "ja", "sí";
        click_limit_short: "Clicks in all at most", "Klicks insgesamt höchstens", "Clics en total como máximo";
        query_merged: "is added", "wird angehängt", "se añade";
    }
}

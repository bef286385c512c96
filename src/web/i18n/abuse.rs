//! Words about what is done against abuse: disabled links, reports, the log of changes.

super::words! {
    Abuse {
        disabled: "This link is disabled: it does not redirect.", "Dieser Link ist gesperrt: Er leitet nicht weiter.", "Este enlace está desactivado: no redirige.";
        since: "Since", "Seit", "Desde";
        reason: "Reason", "Grund", "Motivo";
        note: "Note for the owner", "Hinweis für Besitzerin oder Besitzer", "Nota para el propietario";
        reason_misuse: "spam or other misuse", "Spam oder anderer Missbrauch", "correo basura u otro abuso";
        reason_malware: "malware", "Schadsoftware", "programas dañinos";
        reason_phishing: "pretends to be another site", "gibt sich für eine andere Seite aus", "se hace pasar por otra página";
        reason_legal: "legal reasons", "rechtliche Gründe", "motivos legales";
        reason_other: "something else", "etwas anderes", "otra cosa";
        reason_account: "the owner’s account is disabled", "das Konto ist gesperrt", "la cuenta está desactivada";
        reason_blocked: "the target is on the block list", "das Ziel steht auf der Sperrliste", "el destino está en la lista de bloqueo";
        disable: "Disable link", "Link sperren", "Desactivar enlace";
        enable: "Enable link", "Link freigeben", "Activar enlace";
        administration: "For administrators", "Für die Verwaltung", "Para la administración";
        with_links: "with links", "mit Links", "con enlaces";
        report: "Report this link", "Diesen Link melden", "Denunciar este enlace";
        report_title: "Report a link", "Einen Link melden", "Denunciar un enlace";
        report_text: "Does a short link lead to something harmful or illegal? The operator of this server will check it. No account is needed.", "Führt ein kurzer Link zu etwas Schädlichem oder Verbotenem? Wer diesen Server betreibt, prüft es. Ein Konto ist nicht nötig.", "¿Un enlace corto lleva a algo dañino o ilegal? Quien gestiona este servidor lo revisará. No hace falta cuenta.";
        report_address: "Short address", "Kurze Adresse", "Dirección corta";
        report_words: "What is wrong with it? (optional)", "Was stimmt damit nicht? (optional)", "¿Qué problema tiene? (opcional)";
        report_send: "Send report", "Meldung senden", "Enviar";
        report_unknown: "There is no such link on this server. Enter the whole short address.", "Auf diesem Server gibt es keinen solchen Link. Gib die ganze kurze Adresse an.", "No existe ese enlace en este servidor. Escribe la dirección corta completa.";
        thanks: "Thank you. We have received your report.", "Danke. Deine Meldung ist angekommen.", "Gracias. Hemos recibido tu denuncia.";
        reports: "Reports", "Meldungen", "Denuncias";
        reports_open: "Open reports:", "Offene Meldungen:", "Denuncias abiertas:";
        no_reports: "No open reports.", "Keine offenen Meldungen.", "No hay denuncias abiertas.";
        report_count: "Reports", "Meldungen", "Denuncias";
        dismiss: "Dismiss", "Verwerfen", "Descartar";
        lookalike: "Careful: this host looks like another one. It is shown in its ASCII form (punycode).", "Vorsicht: Dieser Host sieht aus wie ein anderer. Er steht hier in ASCII-Form (Punycode).", "Cuidado: este dominio se parece a otro. Se muestra en su forma ASCII (punycode).";
        locked: "The operator of this server disabled this link. It can be neither edited nor created again.", "Wer diesen Server betreibt, hat diesen Link gesperrt. Er lässt sich weder ändern noch neu erstellen.", "Quien gestiona este servidor ha desactivado este enlace. No se puede editar ni crear de nuevo.";
        fixed: "Targets cannot be changed on this server. Create a new link instead.", "Auf diesem Server lassen sich Ziele nicht ändern. Erstelle stattdessen einen neuen Link.", "En este servidor no se puede cambiar el destino. Crea un enlace nuevo.";
        quarantined: "This host belonged to another workspace until recently. Try again in a few weeks, or ask the operator of this server.", "Dieser Host gehörte bis vor Kurzem einem anderen Arbeitsbereich. Versuche es in einigen Wochen wieder, oder frage, wer diesen Server betreibt.", "Este dominio era de otro espacio hasta hace poco. Inténtalo en unas semanas o pregunta a quien gestiona este servidor.";
        words_too_long: "Please use at most 1,000 characters.", "Bitte höchstens 1000 Zeichen.", "Usa como máximo 1000 caracteres.";
        log: "Audit log", "Änderungsprotokoll", "Registro de auditoría";
        by: "By (email)", "Durch (E-Mail)", "Por (correo)";
        action: "Action", "Vorgang", "Acción";
        kind: "Kind", "Art", "Tipo";
        any: "any", "alle", "cualquiera";
        subject: "What", "Was", "Qué";
        when: "When (UTC)", "Wann (UTC)", "Cuándo (UTC)";
        from: "From", "Von", "Desde";
        detail: "Details", "Details", "Detalles";
        nothing: "No entries match.", "Keine passenden Einträge.", "Ninguna entrada coincide.";
        made_links: "Created links", "Erstellte Links", "Enlaces creados";
    }
}

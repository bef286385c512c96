//! Words about what is done against abuse: disabled links, reports, the log of changes.

super::words! {
    Abuse {
        disabled: "This link is disabled: it does not redirect.", "Dieser Link ist gesperrt: Er leitet nicht weiter.", "Este enlace está desactivado: no redirige.";
        since: "Since", "Seit", "Desde";
        reason: "Reason", "Grund", "Motivo";
        note: "Note for the owner", "Hinweis an die Eigentümer", "Nota para el propietario";
        reason_misuse: "spam or other misuse", "Spam oder anderer Missbrauch", "spam u otro abuso";
        reason_malware: "malware", "Schadsoftware", "software malicioso";
        reason_phishing: "pretends to be another site", "gibt sich als eine andere Website aus", "se hace pasar por otro sitio";
        reason_legal: "legal reasons", "rechtliche Gründe", "motivos legales";
        reason_other: "something else", "etwas anderes", "otra cosa";
        reason_account: "the owner’s account is disabled", "das Konto ist gesperrt", "la cuenta está desactivada";
        reason_blocked: "the target is on the block list", "das Ziel steht auf der Sperrliste", "el destino está en la lista de bloqueo";
        disable: "Disable link", "Link sperren", "Desactivar enlace";
        enable: "Enable link", "Link freigeben", "Activar enlace";
        administration: "For administrators", "Für Administratoren", "Para administradores";
        with_links: "with links", "mit Links", "con enlaces";
        report: "Report this link", "Diesen Link melden", "Denunciar este enlace";
        report_title: "Report a link", "Einen Link melden", "Denunciar un enlace";
        report_text: "Does a short link lead to something harmful or illegal? The operator of this server will check it. No account is needed.", "Führt ein Kurzlink zu schädlichen oder verbotenen Inhalten? Der Betreiber dieses Servers prüft deine Meldung. Du brauchst dafür kein Konto.", "¿Un enlace corto lleva a contenido dañino o ilegal? El responsable de este servidor lo revisará. No necesitas una cuenta.";
        report_address: "Short address", "Kurzlink", "Enlace corto";
        report_words: "What is wrong with it? (optional)", "Was stimmt damit nicht? (optional)", "¿Qué problema tiene? (opcional)";
        report_send: "Send report", "Meldung senden", "Enviar denuncia";
        report_unknown: "There is no such link on this server. Enter the whole short address.", "Auf diesem Server gibt es keinen solchen Link. Gib den vollständigen Kurzlink ein.", "No existe ese enlace en este servidor. Escribe el enlace corto completo.";
        thanks: "Thank you. We have received your report.", "Danke. Deine Meldung ist angekommen.", "Gracias. Hemos recibido tu denuncia.";
        reports: "Reports", "Meldungen", "Denuncias";
        reports_open: "Open reports:", "Offene Meldungen:", "Denuncias abiertas:";
        no_reports: "No open reports.", "Keine offenen Meldungen.", "No hay denuncias abiertas.";
        report_count: "Reports", "Meldungen", "Denuncias";
        dismiss: "Dismiss", "Verwerfen", "Descartar";
        lookalike: "Careful: this host looks like another one. It is shown in its ASCII form (punycode).", "Vorsicht: Dieser Hostname ist leicht mit einem anderen zu verwechseln. Er wird hier in ASCII-Schreibweise (Punycode) angezeigt.", "Cuidado: este dominio se confunde fácilmente con otro. Aquí se muestra en su forma ASCII (punycode).";
        locked: "The operator of this server disabled this link. It can be neither edited nor created again.", "Der Betreiber dieses Servers hat diesen Link gesperrt. Er kann weder geändert noch neu erstellt werden.", "El responsable de este servidor ha desactivado este enlace. No se puede editar ni crear de nuevo.";
        fixed: "Targets cannot be changed on this server. Create a new link instead.", "Auf diesem Server lassen sich Ziele nicht ändern. Erstelle stattdessen einen neuen Link.", "En este servidor no se puede cambiar el destino de un enlace. Crea uno nuevo.";
        quarantined: "This host belonged to another workspace until recently. Try again in a few weeks, or ask the operator of this server.", "Dieser Host gehörte bis vor Kurzem einem anderen Arbeitsbereich. Versuche es in einigen Wochen wieder, oder wende dich an den Betreiber dieses Servers.", "Hasta hace poco, este dominio pertenecía a otro espacio. Inténtalo dentro de unas semanas o pregunta al responsable de este servidor.";
        words_too_long: "Please use at most 1,000 characters.", "Bitte höchstens 1000 Zeichen.", "Usa como máximo 1000 caracteres.";
        log: "Audit log", "Änderungsprotokoll", "Registro de auditoría";
        by: "By (email)", "Wer (E-Mail)", "Quién (correo)";
        action: "Action", "Aktion", "Acción";
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

//! Words about what is done against abuse: disabled links, reports, the log of changes.

super::words! {
    /// Against abuse.
    Abuse {
        disabled: "This link is disabled: visitors are not sent on.", "Dieser Link ist gesperrt: Wer ihm folgt, wird nicht weitergeleitet.", "Este enlace está desactivado: no se redirige a nadie.";
        since: "Since", "Seit", "Desde";
        reason: "Reason", "Grund", "Motivo";
        note: "Note for its owner", "Hinweis für die Besitzerin oder den Besitzer", "Nota para su dueño";
        reason_misuse: "spam or other misuse", "Spam oder anderer Missbrauch", "correo basura u otro abuso";
        reason_malware: "harmful software", "schädliche Software", "programas dañinos";
        reason_phishing: "pretends to be another site", "gibt sich für eine andere Seite aus", "se hace pasar por otra página";
        reason_legal: "legal reasons", "rechtliche Gründe", "motivos legales";
        reason_other: "something else", "etwas anderes", "otra cosa";
        reason_account: "its owner's account is disabled", "das Konto ist gesperrt", "la cuenta está desactivada";
        reason_blocked: "its target is on the block list", "das Ziel steht auf der Sperrliste", "el destino está en la lista de bloqueo";
        disable: "Disable link", "Link sperren", "Desactivar enlace";
        enable: "Enable link", "Link freigeben", "Activar enlace";
        administration: "For administrators", "Für die Verwaltung", "Para la administración";
        with_links: "with links", "mit Links", "con enlaces";
        report: "Report this link", "Diesen Link melden", "Denunciar este enlace";
        report_title: "Report a link", "Einen Link melden", "Denunciar un enlace";
        report_text: "Does a short link lead to something harmful or illegal? Whoever runs this server looks into it. No account is needed.", "Führt ein kurzer Link zu etwas Schädlichem oder Verbotenem? Wer diesen Server betreibt, sieht es sich an. Ein Konto ist nicht nötig.", "¿Un enlace corto lleva a algo dañino o ilegal? Quien gestiona este servidor lo mirará. No hace falta cuenta.";
        report_address: "Short address", "Kurze Adresse", "Dirección corta";
        report_words: "What is wrong with it? (optional)", "Was stimmt damit nicht? (freiwillig)", "¿Qué problema tiene? (opcional)";
        report_send: "Send report", "Meldung senden", "Enviar";
        report_unknown: "There is no such link on this server. Give the whole short address.", "Auf diesem Server gibt es keinen solchen Link. Gib die ganze kurze Adresse an.", "No hay tal enlace en este servidor. Escribe la dirección corta completa.";
        thanks: "Thank you. The report has been received.", "Danke. Die Meldung ist angekommen.", "Gracias. La denuncia ha llegado.";
        reports: "Reports", "Meldungen", "Denuncias";
        reports_open: "Open reports:", "Offene Meldungen:", "Denuncias abiertas:";
        no_reports: "Nothing is reported.", "Nichts ist gemeldet.", "No hay denuncias.";
        report_count: "Reports", "Meldungen", "Denuncias";
        dismiss: "Nothing to it", "Nichts daran", "Nada que ver";
        lookalike: "Careful: letters of this host look like those of another. It is shown as computers write it.", "Vorsicht: Buchstaben dieses Hosts sehen aus wie die eines anderen. Er steht hier, wie Computer ihn schreiben.", "Cuidado: las letras de este dominio se parecen a las de otro. Se muestra como lo escriben los ordenadores.";
        locked: "Whoever runs this server disabled this link. It can be neither changed nor made again.", "Wer diesen Server betreibt, hat diesen Link gesperrt. Er lässt sich weder ändern noch neu anlegen.", "Quien gestiona este servidor ha desactivado este enlace. No se puede cambiar ni crear de nuevo.";
        fixed: "Links of this server keep their targets. Make another link.", "Links dieses Servers behalten ihr Ziel. Lege einen anderen Link an.", "Los enlaces de este servidor conservan su destino. Crea otro enlace.";
        quarantined: "This host belonged to another workspace until lately. Try again in some weeks, or ask whoever runs this server.", "Dieser Host gehörte bis vor Kurzem einem anderen Arbeitsbereich. Versuche es in einigen Wochen wieder, oder frage, wer diesen Server betreibt.", "Este dominio era de otro espacio hasta hace poco. Inténtalo en unas semanas o pregunta a quien gestiona este servidor.";
        words_too_long: "Please use at most 1,000 characters.", "Bitte höchstens 1000 Zeichen.", "Usa como máximo 1000 caracteres.";
        log: "Log of changes", "Änderungsprotokoll", "Registro de cambios";
        by: "By (email)", "Durch (E-Mail)", "Por (correo)";
        action: "Action", "Vorgang", "Acción";
        kind: "Kind", "Art", "Tipo";
        any: "any", "alle", "cualquiera";
        subject: "What", "Was", "Qué";
        when: "When (UTC)", "Wann (UTC)", "Cuándo (UTC)";
        from: "From", "Von", "Desde";
        detail: "Details", "Einzelheiten", "Detalles";
        nothing: "Nothing like this is in the log.", "Nichts dergleichen steht im Protokoll.", "No hay nada así en el registro.";
        made_links: "Links that were made", "Angelegte Links", "Enlaces creados";
    }
}

//! Words of the front page.

super::words! {
    /// The front page.
    Front {
        title: "Shorten a link", "Einen Link kürzen", "Acortar un enlace";
        heading: "Make it short.", "Mach’s kurz.", "Hazlo corto.";
        field: "The long address", "Die lange Adresse", "La dirección larga";
        placeholder: "example.com/a/very/long/address", "example.com/eine/sehr/lange/adresse", "example.com/una/direccion/muy/larga";
        banner: "Without an account a link lives {} hours. Log in to keep your links for good.", "Ohne Konto lebt ein Link {} Stunden. Melde dich an, um deine Links zu behalten.", "Sin cuenta, un enlace vive {} horas. Entra para conservar tus enlaces.";
        ready: "Your short link", "Dein kurzer Link", "Tu enlace corto";
        leads_to: "leads to", "führt zu", "lleva a";
        expires_in: "Expires in", "Läuft ab in", "Caduca en";
        expires_at: "Expires", "Läuft ab", "Caduca";
        stays: "It stays until you delete it.", "Er bleibt, bis du ihn löschst.", "Se queda hasta que lo elimines.";
        qr: "QR code of the short link", "QR-Code des kurzen Links", "Código QR del enlace corto";
        details: "Show details", "Details ansehen", "Ver detalles";
        mine: "Made in this browser", "In diesem Browser erstellt", "Hechos en este navegador";
        keep: "Keep them for good", "Dauerhaft behalten", "Conservarlos";
        totals: "This server in numbers", "Dieser Server in Zahlen", "Este servidor en cifras";
        live_links: "live links", "aktive Links", "enlaces activos";
        redirects: "redirects so far", "Weiterleitungen bisher", "redirecciones hasta hoy";
        latency: "mean time to redirect", "mittlere Dauer einer Weiterleitung", "tiempo medio de redirección";
        hours: "h", "Std.", "h";
        minutes: "min", "Min.", "min";
        seconds: "s", "Sek.", "s";
    }
}

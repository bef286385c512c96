//! Words of the front page.

super::words! {
    Front {
        title: "Shorten a link", "Einen Link kürzen", "Acortar un enlace";
        heading: "Make it short.", "Mach’s kurz.", "Hazlo corto.";
        field: "The long address", "Die lange Adresse", "La dirección larga";
        placeholder: "example.com/a/very/long/address", "example.com/eine/sehr/lange/adresse", "example.com/una/direccion/muy/larga";
        banner: "Without an account, a link expires after {} hours. Sign in to keep your links.", "Ohne Konto läuft ein Link nach {} Stunden ab. Melde dich an, um deine Links zu behalten.", "Sin cuenta, un enlace caduca a las {} horas. Inicia sesión para conservar tus enlaces.";
        ready: "Your short link", "Dein Kurzlink", "Tu enlace corto";
        leads_to: "leads to", "führt zu", "lleva a";
        expires_in: "Expires in", "Läuft ab in", "Caduca en";
        expires_at: "Expires", "Läuft ab", "Caduca";
        stays: "It stays until you delete it.", "Er bleibt, bis du ihn löschst.", "Se conserva hasta que lo elimines.";
        qr: "QR code of the short link", "QR-Code des Kurzlinks", "Código QR del enlace corto";
        details: "Show details", "Details ansehen", "Ver detalles";
        mine: "Created in this browser", "In diesem Browser erstellt", "Creados en este navegador";
        keep: "Keep them", "Dauerhaft behalten", "Conservarlos";
        totals: "This server in numbers", "Dieser Server in Zahlen", "Este servidor en cifras";
        live_links: "live links", "aktive Links", "enlaces activos";
        redirects: "clicks so far", "Klicks bisher", "clics hasta hoy";
        latency: "mean time to redirect", "mittlere Dauer einer Weiterleitung", "tiempo medio de redirección";
        hours: "h", "Std.", "h";
        minutes: "min", "Min.", "min";
        seconds: "s", "Sek.", "s";
    }
}

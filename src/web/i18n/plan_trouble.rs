//! Words for what is wrong with the rules and options of a link.

super::words! {
    PlanTrouble {
        value_unknown: "This value is not known. Did you mean {}?", "Diesen Wert gibt es nicht. Ist {} gemeint?", "Este valor no existe. ¿Quizá {}?";
        empty: "Enter or choose at least one value.", "Gib mindestens einen Wert ein, oder wähle einen.", "Escribe o elige al menos un valor.";
        group_empty: "Add a test to this group, or remove it.", "Füge dieser Gruppe eine Bedingung hinzu, oder entferne sie.", "Añade una condición a este grupo, o elimínalo.";
        time: "Enter a date and time.", "Gib Datum und Uhrzeit ein.", "Escribe fecha y hora.";
        hours: "Hours are written 09:00 and 17:30. The second may be earlier than the first: then midnight lies between.", "Uhrzeiten schreibt man 09:00 und 17:30. Die zweite darf früher sein als die erste: Dann liegt Mitternacht dazwischen.", "Las horas se escriben 09:00 y 17:30. La segunda puede ser anterior a la primera: entonces pasa por medianoche.";
        language: "A language is a name or a tag such as de, de-AT or zh-Hant.", "Eine Sprache ist ein Name oder ein Kürzel wie de, de-AT oder zh-Hant.", "Un idioma es un nombre o una etiqueta como de, de-AT o zh-Hant.";
        network: "A network is written 192.0.2.0/24 or 2001:db8::/32.", "Ein Netz schreibt man 192.0.2.0/24 oder 2001:db8::/32.", "Una red se escribe 192.0.2.0/24 o 2001:db8::/32.";
        region: "A region is a code of ISO 3166-2 such as DE-BE.", "Eine Region ist ein Kürzel aus ISO 3166-2 wie DE-BE.", "Una región es un código ISO 3166-2 como DE-BE.";
        referrer: "A referrer is a host (news.example), a suffix (.example) or a channel (channel:search).", "Ein Verweis ist ein Host (news.example), eine Endung (.example) oder ein Kanal (channel:search).", "Una procedencia es un dominio (news.example), un sufijo (.example) o un canal (channel:search).";
        weight: "A weight is a whole number from 0 to 10,000, and one of them is above 0.", "Ein Gewicht ist eine ganze Zahl von 0 bis 10000, und eines davon ist größer als 0.", "Un peso es un número entero de 0 a 10 000, y alguno es mayor que 0.";
        winner: "Enter the name of one of the variants.", "Gib den Namen einer der Varianten ein.", "Escribe el nombre de una de las variantes.";
        name: "A name has 1 to 60 characters, and every variant of a split has its own.", "Ein Name hat 1 bis 60 Zeichen, und jede Variante einer Aufteilung hat ihren eigenen.", "Un nombre tiene de 1 a 60 caracteres, y cada variante de un reparto tiene el suyo.";
        action: "Choose one thing to do: send to an address, split, or block.", "Wähle, was geschehen soll: zu einer Adresse leiten, aufteilen oder sperren.", "Elige qué hacer: enviar a una dirección, repartir o bloquear.";
        too_large: "That is too much: a link has at most 32 rules, a rule 16 tests, a test 64 values, a split 2 to 8 variants, and all of it 16 KiB.", "Das ist zu viel: Ein Link hat höchstens 32 Regeln, eine Regel 16 Bedingungen, eine Bedingung 64 Werte, eine Aufteilung 2 bis 8 Varianten, und alles zusammen 16 KiB.", "Es demasiado: un enlace tiene como máximo 32 reglas, una regla 16 condiciones, una condición 64 valores, un reparto de 2 a 8 variantes, y todo junto 16 KiB.";
        unreachable: "This rule is never reached: one before it applies to everybody. Move it up, or add a test to the other.", "Diese Regel wird nie erreicht: Eine davor gilt für alle. Schiebe sie nach oben, oder gib der anderen eine Bedingung.", "Nunca se llega a esta regla: una anterior vale para todos. Súbela, o añade una condición a la otra.";
        name_taken: "Another rule has this name.", "Eine andere Regel hat diesen Namen.", "Otra regla tiene este nombre.";
        status_permanent: "A link with rules or options cannot redirect with 301 or 308, which browsers remember: choose 302 or 307 first.", "Ein Link mit Regeln oder Optionen kann nicht mit 301 oder 308 weiterleiten, die sich Browser merken: Wähle zuerst 302 oder 307.", "Un enlace con reglas u opciones no puede redirigir con 301 o 308, que los navegadores recuerdan: elige antes 302 o 307.";
        placeholder: "There is no such placeholder: use one of those above.", "Diesen Platzhalter gibt es nicht: Nimm einen der oben genannten.", "Ese marcador no existe: usa uno de los de arriba.";
        valid_from_after_end: "The start must be before the end.", "Der Beginn muss vor dem Ende liegen.", "El comienzo debe ser anterior al final.";
        visitor_unknown: "Analytics are off for this link, so nobody knows whether a visitor was there before.", "Für diesen Link sind die Analytics aus, darum weiß niemand, ob ein Besucher schon da war.", "La analítica está desactivada para este enlace, así que nadie sabe si un visitante ya estuvo.";
        health_off: "This server does not check targets, so nobody would know that the target is down.", "Dieser Server prüft keine Ziele, darum wüsste niemand, dass das Ziel nicht erreichbar ist.", "Este servidor no comprueba destinos, así que nadie sabría que el destino no responde.";
        password: "A link’s password has 4 to 71 characters.", "Das Passwort eines Links hat 4 bis 71 Zeichen.", "La contraseña de un enlace tiene de 4 a 71 caracteres.";
        text_too_long: "This text is too long, or has characters that cannot be shown.", "Dieser Text ist zu lang oder enthält Zeichen, die sich nicht anzeigen lassen.", "Este texto es demasiado largo o tiene caracteres que no se pueden mostrar.";
        app_id: "An app id is a team and a bundle, such as ABCDE12345.com.example.app.", "Eine App-ID besteht aus Team und Bundle, etwa ABCDE12345.com.example.app.", "Un ID de app es un equipo y un bundle, como ABCDE12345.com.example.app.";
        package: "A package is a name such as com.example.app.", "Ein Paket ist ein Name wie com.example.app.", "Un paquete es un nombre como com.example.app.";
        app_path: "A path begins with / or with the app’s own scheme (myapp://).", "Ein Pfad beginnt mit / oder mit dem Schema der App (myapp://).", "Una ruta empieza por / o por el esquema propio de la app (myapp://).";
        fingerprint: "A fingerprint is 32 bytes in hex with colons between: AB:CD:…", "Ein Fingerabdruck besteht aus 32 Bytes in Hex mit Doppelpunkten: AB:CD:…", "Una huella son 32 bytes en hexadecimal con dos puntos: AB:CD:…";
        changed: "Somebody else changed the link meanwhile. Look at it before you save again.", "Jemand anderes hat den Link inzwischen geändert. Sieh ihn dir an, bevor du erneut speicherst.", "Alguien cambió el enlace entretanto. Míralo antes de guardar de nuevo.";
    }
}

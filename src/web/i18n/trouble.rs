//! Words for what goes wrong: pages, and the sentences beside a field.

super::words! {
    /// Errors.
    Trouble {
        not_found: "Nothing here", "Hier ist nichts", "Aquí no hay nada";
        not_found_text: "There is nothing at this address. Check it for typing errors: capital and small letters differ.", "Unter dieser Adresse gibt es nichts. Prüfe sie auf Tippfehler: Groß- und Kleinbuchstaben sind verschieden.", "No hay nada en esta dirección. Revisa si hay errores: mayúsculas y minúsculas son distintas.";
        forbidden: "Not allowed", "Nicht erlaubt", "No permitido";
        csrf: "Please try again", "Bitte noch einmal", "Inténtalo de nuevo";
        csrf_text: "This request did not come from one of our own pages, so nothing was done.", "Diese Anfrage kam nicht von einer unserer eigenen Seiten, darum ist nichts geschehen.", "Esta petición no vino de una de nuestras páginas, así que no se hizo nada.";
        broken: "Something went wrong", "Etwas ist schiefgegangen", "Algo ha ido mal";
        broken_text: "It is our fault, and it has been logged. Please try again.", "Es liegt an uns und ist notiert. Bitte versuche es noch einmal.", "Es culpa nuestra y queda anotado. Inténtalo de nuevo.";
        away: "Please try again", "Bitte gleich noch einmal", "Inténtalo de nuevo";
        away_text: "The server cannot look this up right now. Nothing is lost: try again in a few seconds.", "Der Server kann das gerade nicht nachsehen. Nichts ist verloren: Versuche es in ein paar Sekunden wieder.", "El servidor no puede consultarlo ahora. Nada se ha perdido: inténtalo en unos segundos.";
        refused: "That did not work", "Das ging nicht", "No ha funcionado";
        request_id: "Request id", "Anfrage-ID", "ID de la solicitud";
        home: "To the front page", "Zur Startseite", "A la portada";
        url_empty: "Please enter an address.", "Bitte gib eine Adresse ein.", "Escribe una dirección.";
        url_scheme: "Only addresses with http and https can be shortened.", "Nur Adressen mit http und https lassen sich kürzen.", "Solo se pueden acortar direcciones http y https.";
        url_own: "This is a short address of this server. Give the address that it leads to.", "Das ist eine kurze Adresse dieses Servers. Gib die Adresse an, zu der sie führt.", "Es una dirección corta de este servidor. Escribe la dirección a la que lleva.";
        url_blocked: "This address is on this server's block list.", "Diese Adresse steht auf der Sperrliste dieses Servers.", "Esta dirección está en la lista de bloqueo de este servidor.";
        url_host: "The address has no proper host name.", "Die Adresse hat keinen richtigen Hostnamen.", "La dirección no tiene un dominio correcto.";
        url_userinfo: "The address has an @ before its path, which hides where it leads.", "Die Adresse hat ein @ vor dem Pfad; das verbirgt, wohin sie führt.", "La dirección tiene una @ antes de la ruta, lo que oculta adónde lleva.";
        url_too_long: "The address is too long.", "Die Adresse ist zu lang.", "La dirección es demasiado larga.";
        code_invalid: "A code is 3 to 64 letters, digits, _ and -.", "Ein Code hat 3 bis 64 Buchstaben, Ziffern, _ und -.", "Un código tiene de 3 a 64 letras, cifras, _ y -.";
        code_reserved: "This word is used by the site itself: choose another one.", "Dieses Wort braucht die Seite selbst: Wähle ein anderes.", "El sitio usa esta palabra: elige otra.";
        code_taken: "The code is taken: choose another one.", "Der Code ist vergeben: Wähle einen anderen.", "El código está ocupado: elige otro.";
        expires_past: "The time must be in the future.", "Der Zeitpunkt muss in der Zukunft liegen.", "La hora debe estar en el futuro.";
        time_invalid: "This is not a date and time.", "Das ist kein Datum mit Uhrzeit.", "Esto no es una fecha y hora.";
        number_invalid: "This is not a whole number from 0 up.", "Das ist keine ganze Zahl ab 0.", "Esto no es un número entero desde 0.";
        tag_invalid: "A tag is 1 to 50 characters, and a link has at most 20.", "Ein Schlagwort hat 1 bis 50 Zeichen, ein Link höchstens 20 davon.", "Una etiqueta tiene de 1 a 50 caracteres, y un enlace 20 como máximo.";
        title_invalid: "A title is at most 200 characters.", "Ein Titel hat höchstens 200 Zeichen.", "Un título tiene 200 caracteres como máximo.";
        wrong_credentials: "The email address or the password is wrong.", "E-Mail-Adresse oder Passwort ist falsch.", "El correo o la contraseña no son correctos.";
        wrong_password: "The password is wrong.", "Das Passwort ist falsch.", "La contraseña no es correcta.";
        password_invalid: "A password has 8 to 71 bytes.", "Ein Passwort hat 8 bis 71 Bytes.", "Una contraseña tiene de 8 a 71 bytes.";
        email_invalid: "This is not an email address.", "Das ist keine E-Mail-Adresse.", "Esto no es un correo electrónico.";
        email_taken: "An account with this address exists already.", "Ein Konto mit dieser Adresse gibt es schon.", "Ya existe una cuenta con esta dirección.";
        invite_invalid: "The invitation is not valid for this address.", "Die Einladung gilt nicht für diese Adresse.", "La invitación no vale para esta dirección.";
        user_unknown: "Nobody has an account with this address.", "Niemand hat ein Konto mit dieser Adresse.", "Nadie tiene una cuenta con esta dirección.";
        member_taken: "They are a member already.", "Ist schon Mitglied.", "Ya es miembro.";
        last_admin: "A workspace keeps at least one admin: make another one first.", "Ein Arbeitsbereich behält mindestens eine Verwaltung: Ernenne zuerst jemand anderen.", "Un espacio conserva al menos una administración: nombra antes otra.";
        host_invalid: "A host is a name such as go.example.com, and not this server’s own.", "Ein Host ist ein Name wie go.example.com, und nicht der dieses Servers.", "Un dominio es un nombre como go.example.com, y no el de este servidor.";
        host_taken: "The host belongs to a workspace already.", "Der Host gehört schon einem Arbeitsbereich.", "El dominio ya es de un espacio.";
        workspace_taken: "A workspace of this name exists already.", "Einen Arbeitsbereich dieses Namens gibt es schon.", "Ya existe un espacio con este nombre.";
        workspace_in_use: "The workspace still has links.", "Der Arbeitsbereich hat noch Links.", "El espacio aún tiene enlaces.";
        scopes_empty: "Choose at least one thing that the key is good for.", "Wähle mindestens eines, wofür der Schlüssel gut ist.", "Elige al menos una cosa para la que sirva la clave.";
        busy: "Too many people are signing in right now: try again in a moment.", "Gerade melden sich zu viele an: Versuche es gleich wieder.", "Ahora entra demasiada gente: inténtalo en un momento.";
        too_often: "A little too often", "Etwas zu oft", "Demasiadas veces";
        wait_seconds: "That was too often in a short time. Please try again in {} seconds.", "Das war zu oft in kurzer Zeit. Bitte versuche es in {} Sekunden wieder.", "Han sido demasiadas veces en poco tiempo. Inténtalo de nuevo en {} segundos.";
        wait_minutes: "That was too often in a short time. Please try again in {} minutes.", "Das war zu oft in kurzer Zeit. Bitte versuche es in {} Minuten wieder.", "Han sido demasiadas veces en poco tiempo. Inténtalo de nuevo en {} minutos.";
        bulk_size: "Enter 1 to 1,000 lines.", "Gib 1 bis 1.000 Zeilen ein.", "Escribe de 1 a 1.000 líneas.";
    }
}

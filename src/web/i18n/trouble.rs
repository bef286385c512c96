//! Words for what goes wrong: pages, and the sentences beside a field.

super::words! {
    Trouble {
        not_found: "Not found", "Nicht gefunden", "No encontrado";
        not_found_text: "There is nothing at this address. Check it for typing errors: upper and lower case matter.", "Unter dieser Adresse gibt es nichts. Achte auf Tippfehler sowie auf Groß- und Kleinschreibung.", "No hay nada en esta dirección. Comprueba que esté bien escrita: se distinguen mayúsculas y minúsculas.";
        gone: "Too late to restore", "Zu spät zum Wiederherstellen", "Ya no se puede restaurar";
        link_purged: "The link was removed for good some time after it was deleted. Create it again with the same address.", "Der Link wurde einige Zeit nach dem Löschen endgültig entfernt. Erstelle ihn mit derselben Adresse neu.", "El enlace se eliminó definitivamente un tiempo después de borrarlo. Créalo de nuevo con la misma dirección.";
        forbidden: "Not allowed", "Nicht erlaubt", "No permitido";
        csrf: "Please try again", "Bitte noch einmal versuchen", "Inténtalo de nuevo";
        csrf_text: "This request did not come from one of this server’s pages, so nothing was changed.", "Diese Anfrage kam nicht von einer Seite dieses Servers, darum wurde nichts geändert.", "Esta petición no procedía de una página de este servidor, así que no se ha cambiado nada.";
        broken: "Something went wrong", "Etwas ist schiefgegangen", "Algo ha ido mal";
        broken_text: "This is our fault, and it has been logged. Please try again.", "Der Fehler liegt bei uns und wurde protokolliert. Bitte versuche es noch einmal.", "Es un fallo nuestro y ha quedado registrado. Inténtalo de nuevo.";
        away: "Please try again", "Bitte gleich noch einmal versuchen", "Inténtalo de nuevo";
        away_text: "The database does not answer right now. Nothing is lost: try again in a few seconds.", "Die Datenbank antwortet gerade nicht. Es ist nichts verloren gegangen. Versuche es in ein paar Sekunden noch einmal.", "La base de datos no responde ahora. No se ha perdido nada: inténtalo dentro de unos segundos.";
        refused: "That did not work", "Das hat nicht geklappt", "No ha funcionado";
        home: "Go to the front page", "Zur Startseite", "Ir a la portada";
        request_id: "Request id", "Anfrage-ID", "ID de la solicitud";
        url_empty: "Please enter an address.", "Bitte gib eine Adresse ein.", "Escribe una dirección.";
        url_scheme: "Only http and https addresses can be shortened.", "Nur Adressen mit http und https lassen sich kürzen.", "Solo se pueden acortar direcciones http y https.";
        url_scheme_named: "A link cannot lead to a {} address: only http and https addresses can be shortened.", "Ein Link kann nicht zu einer {}-Adresse führen: Nur Adressen mit http und https lassen sich kürzen.", "Un enlace no puede llevar a una dirección {}: solo se pueden acortar direcciones http y https.";
        url_own: "This is already a short address of this server. Enter the address it leads to.", "Das ist bereits ein Kurzlink dieses Servers. Gib die Adresse ein, zu der er führt.", "Esto ya es un enlace corto de este servidor. Escribe la dirección a la que lleva.";
        url_blocked: "This address is on this server’s block list.", "Diese Adresse steht auf der Sperrliste dieses Servers.", "Esta dirección está en la lista de bloqueo de este servidor.";
        url_host: "The host name in this address is not valid.", "Der Hostname in dieser Adresse ist ungültig.", "El dominio de esta dirección no es válido.";
        url_userinfo: "The address contains a user name or password (before an @). Remove it.", "Die Adresse enthält einen Benutzernamen oder ein Passwort (vor einem @). Entferne es.", "La dirección contiene un usuario o una contraseña (antes de una @). Quítalo.";
        url_too_long: "The address is too long.", "Die Adresse ist zu lang.", "La dirección es demasiado larga.";
        code_invalid: "A code has 3 to 64 letters, digits, _ and -.", "Ein Code hat 3 bis 64 Buchstaben, Ziffern, _ und -.", "Un código tiene de 3 a 64 letras, cifras, _ y -.";
        code_reserved: "This word is reserved for the site: choose another one.", "Dieses Wort ist für die Seite reserviert: Wähle ein anderes.", "Esta palabra está reservada para el sitio: elige otra.";
        code_taken: "This code is taken: choose another one.", "Dieser Code ist vergeben: Wähle einen anderen.", "Este código ya está en uso: elige otro.";
        expires_past: "The time must be in the future.", "Der Zeitpunkt muss in der Zukunft liegen.", "La fecha debe ser futura.";
        time_invalid: "This is not a valid date and time.", "Das ist kein gültiges Datum mit Uhrzeit.", "La fecha o la hora no es válida.";
        number_invalid: "Enter a whole number, 0 or more.", "Gib eine ganze Zahl ab 0 ein.", "Escribe un número entero, 0 o más.";
        tag_invalid: "A tag has 1 to 255 characters, and a link at most 100 tags.", "Ein Schlagwort hat 1 bis 255 Zeichen, ein Link höchstens 100 Schlagwörter.", "Una etiqueta tiene de 1 a 255 caracteres, y un enlace 100 etiquetas como máximo.";
        title_invalid: "A title has at most 512 characters.", "Ein Titel hat höchstens 512 Zeichen.", "Un título tiene 512 caracteres como máximo.";
        note_invalid: "This note is too long, or has characters that cannot be shown.", "Diese Notiz ist zu lang oder enthält Zeichen, die sich nicht anzeigen lassen.", "Esta nota es demasiado larga o tiene caracteres que no se pueden mostrar.";
        tag_taken: "Links have this tag already: choose another name.", "Es gibt schon Links mit diesem Schlagwort: Wähle einen anderen Namen.", "Ya hay enlaces con esta etiqueta: elige otro nombre.";
        aliases_too_many: "A link has at most 100 aliases: remove one first.", "Ein Link hat höchstens 100 Aliasse: Entferne zuerst einen.", "Un enlace tiene 100 alias como máximo: elimina uno primero.";
        url_own_host: "This address is on a host of this server, and could lead back to itself. Enter one elsewhere.", "Diese Adresse liegt auf einem Host dieses Servers und könnte auf sich selbst zurückführen. Gib eine andere ein.", "Esta dirección está en un dominio de este servidor y podría volver a sí misma. Escribe otra.";
        wrong_credentials: "The email address or the password is wrong.", "E-Mail-Adresse oder Passwort ist falsch.", "El correo o la contraseña no son correctos.";
        wrong_password: "The password is wrong.", "Das Passwort ist falsch.", "La contraseña no es correcta.";
        password_invalid: "A password has 8 to 71 characters.", "Ein Passwort hat 8 bis 71 Zeichen.", "Una contraseña tiene de 8 a 71 caracteres.";
        email_invalid: "This is not a valid email address.", "Das ist keine gültige E-Mail-Adresse.", "Este correo electrónico no es válido.";
        email_taken: "An account with this email address already exists.", "Ein Konto mit dieser E-Mail-Adresse gibt es schon.", "Ya existe una cuenta con este correo.";
        invite_invalid: "The invitation is not valid for this email address.", "Die Einladung gilt nicht für diese E-Mail-Adresse.", "La invitación no es válida para este correo.";
        invitations_too_many: "Too many invitations wait for an answer: revoke some first.", "Zu viele Einladungen warten auf Antwort: Widerrufe zuerst einige.", "Demasiadas invitaciones esperan respuesta: revoca antes alguna.";
        members_too_many: "This workspace has as many members as it may have.", "Dieser Arbeitsbereich hat so viele Mitglieder, wie er haben darf.", "Este espacio tiene tantos miembros como puede tener.";
        member_taken: "This person is already a member.", "Diese Person ist schon Mitglied.", "Esta persona ya es miembro.";
        last_admin: "The last admin of {} stays: make another member admin there first, or delete the workspace.", "Der letzte Administrator von {} muss bleiben: Gib dort zuerst einem anderen Mitglied diese Rolle, oder lösche den Arbeitsbereich.", "El último administrador de {} se queda: nombra antes allí a otro miembro, o elimina el espacio.";
        host_invalid: "A host is a name such as go.example.com: letters a to z, digits, dots and hyphens; no port, no IP address, no dot at the end, and not this server’s own.", "Ein Host ist ein Name wie go.example.com: Buchstaben a bis z, Ziffern, Punkte und Bindestriche; ohne Port, keine IP-Adresse, kein Punkt am Ende, und nicht der Name dieses Servers.", "Un dominio es un nombre como go.example.com: letras de la a a la z, cifras, puntos y guiones; sin puerto, sin dirección IP, sin punto final, y no el de este servidor.";
        host_reserved: "Names below this server’s own are given out by its administrators only.", "Namen unterhalb des Namens dieses Servers vergibt nur dessen Administration.", "Los nombres por debajo del de este servidor solo los asigna su administración.";
        workspace_limit: "You have created as many workspaces as you may: delete one first.", "Du hast so viele Arbeitsbereiche erstellt, wie du darfst: Lösche zuerst einen.", "Has creado todos los espacios permitidos: elimina uno primero.";
        custom_code_limit: "You have chosen as many codes as you may this month: leave the code empty, or use a workspace of your own.", "Du hast diesen Monat so viele Codes gewählt, wie du darfst: Lass den Code leer oder nutze einen eigenen Arbeitsbereich.", "Has elegido todos los códigos permitidos este mes: deja el código vacío o usa un espacio propio.";
        host_taken: "This host already belongs to a workspace.", "Dieser Host gehört schon einem Arbeitsbereich.", "Este dominio ya pertenece a un espacio.";
        workspace_taken: "A workspace with this name already exists.", "Einen Arbeitsbereich mit diesem Namen gibt es schon.", "Ya existe un espacio con este nombre.";
        workspace_deleted: "A workspace with this name was deleted. Choose another name, or ask an administrator of this server to restore it.", "Ein Arbeitsbereich mit diesem Namen wurde gelöscht. Wähle einen anderen Namen oder bitte die Administration dieses Servers, ihn wiederherzustellen.", "Un espacio con este nombre fue eliminado. Elige otro nombre o pide a la administración de este servidor que lo restaure.";
        workspace_in_use: "The workspace still has links.", "Der Arbeitsbereich hat noch Links.", "El espacio aún tiene enlaces.";
        scopes_empty: "Choose at least one scope.", "Wähle mindestens eine Berechtigung.", "Elige al menos un permiso.";
        too_many_searches: "Too many searches are running right now: try again in a moment.", "Gerade laufen zu viele Suchen: Versuche es gleich wieder.", "Hay demasiadas búsquedas en curso: inténtalo en un momento.";
        statement_timeout: "The search took too long and was stopped: type more letters, or choose a smaller list.", "Die Suche dauerte zu lange und wurde abgebrochen: Gib mehr Buchstaben ein oder wähle eine kleinere Liste.", "La búsqueda tardó demasiado y se detuvo: escribe más letras o elige una lista más pequeña.";
        busy: "Too many people are signing in right now: try again in a moment.", "Gerade melden sich zu viele Leute an: Versuche es gleich noch einmal.", "Hay demasiada gente iniciando sesión: inténtalo dentro de un momento.";
        too_often: "Too many requests", "Zu viele Anfragen", "Demasiadas peticiones";
        wait_seconds: "Too many attempts in a short time. Please try again in {} seconds.", "Zu viele Versuche in kurzer Zeit. Bitte versuche es in {} Sekunden wieder.", "Demasiados intentos en poco tiempo. Inténtalo de nuevo en {} segundos.";
        wait_minutes: "Too many attempts in a short time. Please try again in {} minutes.", "Zu viele Versuche in kurzer Zeit. Bitte versuche es in {} Minuten wieder.", "Demasiados intentos en poco tiempo. Inténtalo de nuevo en {} minutos.";
        bulk_size: "Enter 1 to 1,000 lines.", "Gib 1 bis 1000 Zeilen ein.", "Escribe de 1 a 1000 líneas.";
    }
}

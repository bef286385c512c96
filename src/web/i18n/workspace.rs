//! Words of workspaces: settings, members, hosts.

super::words! {
    Workspace {
        title: "Workspaces", "Arbeitsbereiche", "Espacios";
        text: "A workspace is a team’s own set of links, with its own members, hosts and settings.", "Ein Arbeitsbereich enthält die Links eines Teams, mit eigenen Mitgliedern, Hosts und Einstellungen.", "Un espacio contiene los enlaces de un equipo, con sus propios miembros, dominios y ajustes.";
        id: "Name", "Name", "Nombre";
        id_hint: "1 to 64 letters, digits, _ and -", "1 bis 64 Buchstaben, Ziffern, _ und -", "De 1 a 64 letras, cifras, _ y -";
        make: "Create a workspace", "Arbeitsbereich erstellen", "Crear un espacio";
        settings: "Settings", "Einstellungen", "Ajustes";
        settings_of: "Workspace {}", "Arbeitsbereich {}", "Espacio {}";
        strategy: "Type of code", "Art der Codes", "Tipo de código";
        hit_limit: "Clicks per month for each link (empty: the server’s limit, 0: no limit)", "Klicks pro Monat je Link (leer: Limit des Servers, 0: unbegrenzt)", "Clics al mes por enlace (vacío: el límite del servidor, 0: sin límite)";
        members: "Members", "Mitglieder", "Miembros";
        role: "Role", "Rolle", "Rol";
        admin: "admin", "Administrator", "administrador";
        member: "member", "Mitglied", "miembro";
        viewer: "viewer", "nur Lesezugriff", "solo lectura";
        invite: "Invite somebody", "Jemanden einladen", "Invitar a alguien";
        invite_text: "They are a member once they accept, within 7 days. Somebody who already has an account with this address sees the invitation under Workspaces; everybody else needs its link.", "Mitglied ist, wer innerhalb von 7 Tagen annimmt. Wer mit dieser Adresse schon ein Konto hat, sieht die Einladung unter Arbeitsbereiche; alle anderen brauchen ihren Link.", "Será miembro quien acepte en un plazo de 7 días. Quien ya tiene una cuenta con esta dirección ve la invitación en Espacios; los demás necesitan su enlace.";
        invite_button: "Invite", "Einladen", "Invitar";
        invited: "Invitation for {} created. Its link is shown only now; whoever has it can accept:", "Einladung für {} erstellt. Ihr Link wird nur jetzt angezeigt; wer ihn hat, kann annehmen:", "Invitación para {} creada. Su enlace solo se muestra ahora; quien lo tenga puede aceptar:";
        pending: "Pending invitations", "Offene Einladungen", "Invitaciones pendientes";
        invitations: "Invitations", "Einladungen", "Invitaciones";
        invited_by: "Invited by", "Eingeladen von", "Invitado por";
        invitation_until: "Valid until", "Gültig bis", "Válida hasta";
        invitation_to: "Invitation to the workspace {}", "Einladung in den Arbeitsbereich {}", "Invitación al espacio {}";
        invitation_over: "This invitation is not valid: it was answered, revoked or replaced, or is older than 7 days. Ask for another one.", "Diese Einladung gilt nicht: Sie wurde beantwortet, widerrufen oder ersetzt, oder ist älter als 7 Tage. Bitte um eine neue.", "Esta invitación no es válida: ya se respondió, se revocó o se sustituyó, o tiene más de 7 días. Pide otra.";
        accept: "Accept", "Annehmen", "Aceptar";
        decline: "Decline", "Ablehnen", "Rechazar";
        answer: "Answer", "Antwort", "Respuesta";
        needs_link: "Your account is newer than this invitation: open its link to accept it.", "Dein Konto ist neuer als diese Einladung: Öffne ihren Link, um sie anzunehmen.", "Tu cuenta es más reciente que esta invitación: abre su enlace para aceptarla.";
        declined: "Invitation declined.", "Einladung abgelehnt.", "Invitación rechazada.";
        joined: "You are a member of this workspace now.", "Du bist jetzt Mitglied dieses Arbeitsbereichs.", "Ahora eres miembro de este espacio.";
        change_role: "Change", "Ändern", "Cambiar";
        leave: "Leave", "Verlassen", "Salir";
        hosts: "Hosts", "Hosts", "Dominios";
        hosts_text: "Names on which the links of this workspace work. Point their DNS at this server.", "Namen, unter denen die Links dieses Arbeitsbereichs funktionieren. Ihr DNS muss auf diesen Server zeigen.", "Nombres con los que funcionan los enlaces de este espacio. Su DNS debe apuntar a este servidor.";
        host_waits: "not proven yet", "noch nicht nachgewiesen", "sin comprobar";
        host_proof: "Links work on this host once you have proven that it is yours. Publish this text as a TXT record or as a file, then check.", "Links funktionieren unter diesem Host, sobald du nachgewiesen hast, dass er dir gehört. Veröffentliche diesen Text als TXT-Eintrag oder als Datei und prüfe dann.", "Los enlaces funcionarán en este dominio cuando demuestres que es tuyo. Publica este texto como registro TXT o como archivo y después compruébalo.";
        host_txt: "TXT record", "TXT-Eintrag", "Registro TXT";
        host_file: "or file", "oder Datei", "o archivo";
        host_text: "Text", "Text", "Texto";
        host_check: "Check now", "Jetzt prüfen", "Comprobar ahora";
        host_approve: "Approve without proof", "Ohne Nachweis zulassen", "Aprobar sin comprobar";
        host_active: "Links work on this host now.", "Links funktionieren jetzt unter diesem Host.", "Los enlaces ya funcionan en este dominio.";
        host_pending: "Host added. Prove that it is yours, as described beside it.", "Host hinzugefügt. Weise nach, dass er dir gehört, wie daneben beschrieben.", "Dominio añadido. Demuestra que es tuyo, como se indica al lado.";
        host_urls: "Other addresses", "Andere Adressen", "Otras direcciones";
        host_urls_text: "Where visitors of this host go who follow no link. Empty: to a page of kurz.", "Wohin Besucher dieses Hosts gelangen, die keinem Link folgen. Leer: zu einer Seite von kurz.", "Adónde van los visitantes de este dominio que no siguen ningún enlace. Vacío: a una página de kurz.";
        host_home: "The address without a code", "Die Adresse ohne Code", "La dirección sin código";
        host_not_found: "Unknown codes", "Unbekannte Codes", "Códigos desconocidos";
        host_invalid_code: "Other paths", "Andere Pfade", "Otras rutas";
        host: "Host", "Host", "Dominio";
        add_host: "Add a host", "Host hinzufügen", "Añadir un dominio";
        delete: "Delete workspace", "Arbeitsbereich löschen", "Eliminar el espacio";
        delete_text: "A workspace can be deleted once all its links are deleted.", "Ein Arbeitsbereich lässt sich löschen, wenn alle seine Links gelöscht sind.", "Un espacio se puede eliminar cuando todos sus enlaces están eliminados.";
        made: "Workspace created.", "Arbeitsbereich erstellt.", "Espacio creado.";
        removed: "Workspace deleted.", "Arbeitsbereich gelöscht.", "Espacio eliminado.";
        server_limit: "the server’s limit", "Limit des Servers", "el límite del servidor";
        none: "You are not in a workspace yet.", "Du bist noch in keinem Arbeitsbereich.", "Aún no estás en ningún espacio.";
    }
}

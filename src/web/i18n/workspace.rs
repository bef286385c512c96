//! Words of workspaces: settings, members, hosts.

super::words! {
    /// Workspaces.
    Workspace {
        title: "Workspaces", "Arbeitsbereiche", "Espacios";
        text: "A workspace is a team's own set of links, with members, hosts and rules of its own.", "Ein Arbeitsbereich ist der eigene Vorrat an Links eines Teams, mit Mitgliedern, Hosts und Regeln.", "Un espacio es el conjunto de enlaces de un equipo, con sus miembros, dominios y reglas.";
        id: "Name", "Name", "Nombre";
        id_hint: "1 to 64 letters, digits, _ and -", "1 bis 64 Buchstaben, Ziffern, _ und -", "De 1 a 64 letras, cifras, _ y -";
        make: "Make a workspace", "Arbeitsbereich anlegen", "Crear un espacio";
        settings: "Settings", "Einstellungen", "Ajustes";
        settings_of: "Workspace {}", "Arbeitsbereich {}", "Espacio {}";
        strategy: "Codes are made by", "Codes entstehen durch", "Los códigos se hacen por";
        hit_limit: "Clicks a month for each link (empty: the server’s limit, 0: any number)", "Klicks im Monat je Link (leer: Grenze des Servers, 0: beliebig viele)", "Clics al mes por enlace (vacío: el límite del servidor, 0: sin límite)";
        members: "Members", "Mitglieder", "Miembros";
        role: "Role", "Rolle", "Papel";
        admin: "admin", "Verwaltung", "administra";
        member: "member", "Mitglied", "miembro";
        viewer: "viewer", "nur ansehen", "solo mira";
        add_member: "Add a member", "Mitglied hinzufügen", "Añadir un miembro";
        change_role: "Change", "Ändern", "Cambiar";
        leave: "Leave", "Verlassen", "Salir";
        hosts: "Hosts", "Hosts", "Dominios";
        hosts_text: "Names under which the links of this workspace answer. Point their DNS at this server.", "Namen, unter denen die Links dieses Arbeitsbereichs antworten. Ihr DNS muss auf diesen Server zeigen.", "Nombres en los que responden los enlaces de este espacio. Su DNS debe apuntar a este servidor.";
        host: "Host", "Host", "Dominio";
        add_host: "Add a host", "Host hinzufügen", "Añadir un dominio";
        delete: "Remove the workspace", "Arbeitsbereich entfernen", "Quitar el espacio";
        delete_text: "Only a workspace whose links are all deleted can be removed.", "Nur ein Arbeitsbereich, dessen Links alle gelöscht sind, lässt sich entfernen.", "Solo se puede quitar un espacio cuyos enlaces estén todos eliminados.";
        made: "The workspace is there.", "Der Arbeitsbereich ist da.", "El espacio está listo.";
        removed: "The workspace is removed.", "Der Arbeitsbereich ist entfernt.", "El espacio está quitado.";
        server_limit: "the server’s limit", "Grenze des Servers", "el límite del servidor";
        none: "You are in no workspace yet.", "Du bist noch in keinem Arbeitsbereich.", "Aún no estás en ningún espacio.";
    }
}

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
        add_member: "Add a member", "Mitglied hinzufügen", "Añadir un miembro";
        change_role: "Change", "Ändern", "Cambiar";
        leave: "Leave", "Verlassen", "Salir";
        hosts: "Hosts", "Hosts", "Dominios";
        hosts_text: "Names on which the links of this workspace work. Point their DNS at this server.", "Namen, unter denen die Links dieses Arbeitsbereichs funktionieren. Ihr DNS muss auf diesen Server zeigen.", "Nombres con los que funcionan los enlaces de este espacio. Su DNS debe apuntar a este servidor.";
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

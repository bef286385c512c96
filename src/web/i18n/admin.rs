//! Words of the administration.

super::words! {
    Admin {
        title: "Administration", "Verwaltung", "Administración";
        totals: "Totals", "Gesamtzahlen", "Totales";
        jobs: "Jobs", "Aufgaben", "Tareas";
        job: "Job", "Aufgabe", "Tarea";
        last_run: "Last started", "Zuletzt gestartet", "Último inicio";
        held_until: "Next run not before", "Nächster Lauf frühestens", "Próxima ejecución, como pronto";
        by_instance: "Instance", "Instanz", "Instancia";
        no_jobs: "No job has run yet.", "Bisher ist keine Aufgabe gelaufen.", "Aún no se ha ejecutado ninguna tarea.";
        instance: "This instance", "Diese Instanz", "Esta instancia";
        instances: "Instances", "Instanzen", "Instancias";
        seen: "Last seen", "Zuletzt aktiv", "Última actividad";
        name: "Name", "Name", "Nombre";
        version: "Version", "Version", "Versión";
        store: "Database", "Datenbank", "Base de datos";
        answers: "answers in {} ms", "antwortet in {} ms", "responde en {} ms";
        redis: "Redis", "Redis", "Redis";
        redis_off: "not used: hits are counted in this process", "nicht verwendet: Klicks werden in diesem Prozess gezählt", "sin usar: los clics se cuentan en este proceso";
        redis_up: "answers", "antwortet", "responde";
        redis_away: "does not answer: limited links use the hits that this instance has reserved", "antwortet nicht: begrenzte Links nutzen die Klicks, die diese Instanz reserviert hat", "no responde: los enlaces con límite usan los clics que esta instancia ha reservado";
        cache: "Cached links", "Links im Cache", "Enlaces en caché";
        unwritten: "Links with unsaved clicks", "Links mit noch nicht gespeicherten Klicks", "Enlaces con clics sin guardar";
        time: "Clock (UTC)", "Uhrzeit (UTC)", "Hora (UTC)";
        users: "Users", "Konten", "Usuarios";
        from: "Start at email", "Ab E-Mail-Adresse", "Desde el correo";
        email: "Email", "E-Mail", "Correo";
        user_name: "Name", "Name", "Nombre";
        since: "Since", "Seit", "Desde";
        administrator: "administrator", "Administrator", "administrador";
        disabled: "disabled", "gesperrt", "desactivada";
        disable: "Disable", "Sperren", "Desactivar";
        enable: "Enable", "Freigeben", "Activar";
        state: "Status", "Status", "Estado";
    }
}

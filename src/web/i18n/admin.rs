//! Words of the administration.

super::words! {
    /// Administration.
    Admin {
        title: "Administration", "Verwaltung", "Administración";
        totals: "Totals", "Summen", "Totales";
        jobs: "Jobs", "Aufgaben", "Tareas";
        job: "Job", "Aufgabe", "Tarea";
        last_run: "Last begun", "Zuletzt begonnen", "Último comienzo";
        held_until: "Not again before", "Nicht wieder vor", "No antes de";
        by_instance: "By instance", "Durch Instanz", "Por instancia";
        no_jobs: "No job has run yet.", "Noch keine Aufgabe ist gelaufen.", "Aún no se ha ejecutado ninguna tarea.";
        instance: "This instance", "Diese Instanz", "Esta instancia";
        instances: "Instances", "Instanzen", "Instancias";
        seen: "Last heard of", "Zuletzt gehört", "Última noticia";
        name: "Name", "Name", "Nombre";
        version: "Version", "Version", "Versión";
        store: "Store", "Speicher", "Almacén";
        answers: "answers in {} ms", "antwortet in {} ms", "responde en {} ms";
        redis: "Redis", "Redis", "Redis";
        redis_off: "not used: counters live in this process", "nicht benutzt: Zähler leben in diesem Prozess", "sin usar: los contadores viven en este proceso";
        redis_up: "answers", "antwortet", "responde";
        redis_away: "does not answer: limited links are served from what this instance holds", "antwortet nicht: begrenzte Links leben von dem, was diese Instanz noch hat", "no responde: los enlaces con límite se sirven de lo que le queda a esta instancia";
        cache: "Links in memory", "Links im Speicher", "Enlaces en memoria";
        unwritten: "Links with clicks not yet written", "Links mit noch ungeschriebenen Klicks", "Enlaces con clics sin escribir";
        time: "Clock (UTC)", "Uhr (UTC)", "Reloj (UTC)";
        users: "Users", "Konten", "Usuarios";
        from: "Begin at address", "Ab Adresse", "Desde la dirección";
        email: "Email", "E-Mail", "Correo";
        user_name: "Name", "Name", "Nombre";
        since: "Since", "Seit", "Desde";
        administrator: "administrator", "Verwaltung", "administración";
        disabled: "may not sign in", "darf sich nicht anmelden", "no puede entrar";
        disable: "Lock out", "Sperren", "Bloquear";
        enable: "Let in", "Zulassen", "Permitir";
        state: "State", "Zustand", "Estado";
    }
}

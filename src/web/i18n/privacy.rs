//! Words of the notice about what is kept of visitors.

super::words! {
    PrivacyWords {
        title: "What is kept about visitors", "Was über Besucher aufbewahrt wird", "Qué se guarda sobre los visitantes";
        intro: "This is what kurz, the program behind the short links of this address, keeps when somebody follows a link. The text is made from the settings in force.", "Das bewahrt kurz, das Programm hinter den Kurzlinks dieser Adresse, auf, wenn jemand einem Link folgt. Der Text entsteht aus den geltenden Einstellungen.", "Esto es lo que kurz, el programa de los enlaces cortos de esta dirección, guarda cuando alguien sigue un enlace. El texto se genera a partir de los ajustes vigentes.";
        kept: "What is kept", "Was aufbewahrt wird", "Qué se guarda";
        counts: "How often each link was followed, by hour and day.", "Wie oft jedem Link gefolgt wurde, nach Stunde und Tag.", "Cuántas veces se siguió cada enlace, por hora y día.";
        events: "Of each click: its time, the link and the host; whether it was a person or a bot; the host of the page it came from, never the rest of its address; the country{}; the preferred language; browser and system with their major version, and the kind of device; campaign parameters of the short link (utm_…, ref); whether a QR code was used.", "Von jedem Klick: Zeit, Link und Host; ob es ein Mensch oder ein Bot war; der Host der Seite, von der er kam, nie der Rest ihrer Adresse; das Land{}; die bevorzugte Sprache; Browser und System mit ihrer Hauptversion und die Art des Geräts; Kampagnenparameter des Kurzlinks (utm_…, ref); ob ein QR-Code benutzt wurde.", "De cada clic: la hora, el enlace y el dominio; si fue una persona o un bot; el dominio de la página de la que venía, nunca el resto de su dirección; el país{}; el idioma preferido; navegador y sistema con su versión principal, y el tipo de dispositivo; los parámetros de campaña del enlace (utm_…, ref); si se usó un código QR.";
        events_place: ", the region and the city", ", die Region und die Stadt", ", la región y la ciudad";
        sums: "Sums per day and link, such as clicks by country, referring host, browser, system, kind of device and language; no versions, cities or search terms.", "Summen pro Tag und Link, etwa Klicks nach Land, verweisendem Host, Browser, System, Geräteart und Sprache; keine Versionen, Städte oder Suchbegriffe.", "Sumas por día y enlace, como clics por país, dominio de origen, navegador, sistema, tipo de dispositivo e idioma; sin versiones, ciudades ni términos de búsqueda.";
        visitors: "To count visitors, a keyed hash of address and browser. The key is random and new every {}; it is destroyed two hours after that, and from then on the hashes lead to nobody.", "Um Besucher zu zählen, ein Hash aus Adresse und Browser mit Schlüssel. Der Schlüssel ist zufällig und {} neu; zwei Stunden danach wird er vernichtet, und von da an führen die Hashes zu niemandem.", "Para contar visitantes, un hash con clave de la dirección y el navegador. La clave es aleatoria y nueva cada {}; se destruye dos horas después, y desde entonces los hashes no llevan a nadie.";
        every_day: "day", "jeden Tag", "día";
        every_week: "week", "jede Woche", "semana";
        every_month: "month", "jeden Monat", "mes";
        how_long: "For how long", "Wie lange", "Durante cuánto tiempo";
        long_counts: "Counts are kept as long as the link.", "Anzahlen werden so lange aufbewahrt wie der Link.", "Los recuentos se guardan mientras exista el enlace.";
        long_events: "Single clicks: {}. Then only sums per day remain.", "Einzelne Klicks: {}. Danach bleiben nur Summen pro Tag.", "Clics individuales: {}. Después solo quedan sumas por día.";
        long_sums: "Sums per day: {}.", "Summen pro Tag: {}.", "Sumas por día: {}.";
        days: "{} days", "{} Tage", "{} días";
        hours: "{} hours", "{} Stunden", "{} horas";
        not_kept: "What is not kept", "Was nicht aufbewahrt wird", "Qué no se guarda";
        no_address: "No IP address is stored. It is in memory for about a second, to find the country, and then overwritten.", "Keine IP-Adresse wird gespeichert. Sie ist etwa eine Sekunde lang im Arbeitsspeicher, um das Land zu finden, und wird dann überschrieben.", "No se guarda ninguna dirección IP. Está en memoria alrededor de un segundo, para encontrar el país, y luego se sobrescribe.";
        no_cookie: "Following a link sets no cookie, runs no script, and loads nothing from other servers.", "Einem Link zu folgen setzt kein Cookie, führt kein Skript aus und lädt nichts von anderen Servern.", "Seguir un enlace no pone ninguna cookie, no ejecuta scripts y no carga nada de otros servidores.";
        no_profile: "Nobody is recognised on another workspace’s links, nor after the key is destroyed.", "Niemand wird bei Links anderer Arbeitsbereiche wiedererkannt und niemand, nachdem der Schlüssel vernichtet ist.", "No se reconoce a nadie en los enlaces de otros espacios, ni después de destruir la clave.";
        object: "How to object", "Wie man widerspricht", "Cómo oponerse";
        object_signal: "Switch on {} in your browser: then the click is counted, and nothing else about it is kept.", "Schalte im Browser {} ein: Dann wird der Klick gezählt und sonst nichts über ihn aufbewahrt.", "Activa {} en tu navegador: el clic se cuenta y no se guarda nada más sobre él.";
        gpc: "Global Privacy Control", "Global Privacy Control", "Global Privacy Control";
        dnt: "Do Not Track", "Do Not Track", "Do Not Track";
        or: "or", "oder", "o";
        object_param: "Or add {} to a short link: the click stands apart, and nothing else about it is kept.", "Oder hänge {} an einen Kurzlink an: Der Klick steht dann für sich, und sonst wird nichts über ihn aufbewahrt.", "O añade {} a un enlace corto: el clic queda aparte y no se guarda nada más sobre él.";
        object_contact: "For anything else, write to whoever runs this server. This notice is about analytics; logs that they may keep are not part of it.", "Für alles andere wende dich an den Betreiber dieses Servers. Dieser Hinweis betrifft die Analytics; Protokolle, die der Betreiber führen mag, gehören nicht dazu.", "Para todo lo demás, escribe a quien gestiona este servidor. Este aviso trata de la analítica; los registros que pueda llevar no forman parte de él.";
    }
}

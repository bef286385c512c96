// The map in its card: on a wide screen the picture is replaced by itself, so that countries can be pointed at and
// followed. Nothing is parsed from text: the browser reads the picture as a document.
for (const place of document.querySelectorAll("[data-map]")) {
  if (!matchMedia("(min-width: 60rem)").matches) continue;
  const request = new XMLHttpRequest();
  request.open("GET", place.dataset.map);
  request.responseType = "document";
  request.overrideMimeType("image/svg+xml");
  request.addEventListener("load", () => {
    const map = request.responseXML?.documentElement;
    if (request.status !== 200 || map?.localName !== "svg") return;
    map.setAttribute("role", "group");
    map.setAttribute("aria-label", place.querySelector("img").alt);
    for (const link of map.querySelectorAll("a")) link.setAttribute("tabindex", "-1");
    place.replaceChildren(document.adoptNode(map));
  });
  request.send();
}

// The zone of this browser, where the page still shows UTC.
const zones = document.querySelector("[data-zone]");
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zones && here && ![...zones.options].some((option) => option.value === here)) {
  zones.add(new Option(here.replaceAll("_", " "), here));
}

// The page of now is made anew by the server when the stream says so, and put in the place of the old one.
const live = document.querySelector("[data-stream]");
if (live) {
  let shown = live;
  let isAsking = false;
  const renew = () => {
    if (isAsking || document.hidden) return;
    isAsking = true;
    const request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.responseType = "document";
    request.addEventListener("loadend", () => {
      isAsking = false;
      const fresh = request.response?.querySelector("#live-part");
      if (request.status !== 200 || !fresh || shown.contains(document.activeElement)) return;
      document.adoptNode(fresh);
      shown.replaceWith(fresh);
      shown = fresh;
    });
    request.send();
  };
  const stream = new EventSource(live.dataset.stream);
  stream.addEventListener("click", renew);
  stream.addEventListener("now", renew);
}

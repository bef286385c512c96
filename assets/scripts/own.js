// Links made without an account, remembered in this browser with what makes them one's own later.
const OWN = "kurz.links";

const readOwn = () => {
  try {
    const list = JSON.parse(localStorage.getItem(OWN) ?? "[]");
    if (!Array.isArray(list)) return [];
    return list.filter((link) => Date.parse(link?.expires_at) > Date.now() && typeof link.claim_token === "string");
  } catch {
    return [];
  }
};

const writeOwn = (list) => {
  try {
    if (list.length > 0) localStorage.setItem(OWN, JSON.stringify(list));
    else localStorage.removeItem(OWN);
  } catch {
    // A browser that keeps nothing: the link lives its hours and cannot be claimed.
  }
};

const rememberResult = () => {
  const made = document.querySelector("[data-own]")?.dataset;
  if (!made) return;
  const list = readOwn().filter((link) => link.short_code !== made.code);
  list.unshift({
    short_code: made.code,
    short_url: made.url,
    original_url: made.target,
    expires_at: made.expires,
    claim_token: made.token,
  });
  writeOwn(list.slice(0, 100));
  // Reloading must not make the link again.
  history.replaceState(null, "", "/");
};

const showOwn = () => {
  const section = document.querySelector("#own");
  if (!section) return;
  const list = readOwn();
  writeOwn(list);
  section.hidden = list.length === 0;
  section.querySelector("ul").replaceChildren(...list.map((link) => {
    const item = document.createElement("li");
    const anchor = document.createElement("a");
    anchor.href = /^https?:\/\//.test(link.short_url) ? link.short_url : "/";
    anchor.textContent = link.short_url;
    item.append(anchor);
    if (navigator.clipboard) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "small";
      button.textContent = section.dataset.copyWord;
      button.dataset.copy = link.short_url;
      button.dataset.done = section.dataset.copied;
      item.append(button);
    }
    const about = document.createElement("span");
    const time = document.createElement("time");
    time.dateTime = link.expires_at;
    time.dataset.countdown = "";
    about.append(`${link.original_url} · `, time);
    item.append(about);
    return item;
  }));
};

rememberResult();
showOwn();
countDown();
setInterval(() => {
  countDown();
  const list = document.querySelector("#own ul");
  if (list && list.children.length !== readOwn().length) showOwn();
}, 1000);


// After a sign-in, what was made in this browser becomes the account's. The list is emptied only
// once the server has said so.
const claim = async () => {
  const words = document.body.dataset.claim;
  const list = words ? readOwn() : [];
  if (list.length === 0) return;
  const links = list.map(({ short_code, claim_token }) => ({ short_code, claim_token }));
  const answer = await fetch("/app/claim", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ links }),
    redirect: "error",
  });
  if (!answer.ok) return;
  const { claimed } = await answer.json();
  writeOwn([]);
  const note = document.createElement("p");
  note.className = "note";
  note.setAttribute("role", "status");
  note.textContent = `${words} ${claimed}`;
  if (claimed > 0 && document.querySelector(".workspace-header")) {
    sessionStorage.setItem("kurz.note", note.textContent);
    location.reload();
    return;
  }
  document.querySelector("main").prepend(note);
};

const noteOfClaim = sessionStorage.getItem("kurz.note");
if (noteOfClaim) {
  sessionStorage.removeItem("kurz.note");
  const note = document.createElement("p");
  note.className = "note";
  note.setAttribute("role", "status");
  note.textContent = noteOfClaim;
  document.querySelector("main").prepend(note);
}
// Without an answer the list stays for the next page.
claim().catch(() => {});


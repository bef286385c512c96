// Many links at once: the lines are sent in parts, each with the first line of all, which may name the columns.
const PART = 50;
const MOST_LINES = 1000;

const bulkRow = (result) => {
  const row = document.createElement("tr");
  const cells = ["number", "target", ""].map((name) => {
    const cell = document.createElement("td");
    cell.className = name;
    row.append(cell);
    return cell;
  });
  cells[0].textContent = result.line;
  cells[1].textContent = result.url;
  const badge = document.createElement("span");
  badge.textContent = result.text;
  badge.className = result.short_url ? "badge" : "error";
  if (result.short_url) {
    const anchor = document.createElement("a");
    anchor.href = result.short_url;
    anchor.textContent = result.short_url;
    cells[2].append(anchor, " ");
  }
  cells[2].append(badge);
  return row;
};

const bulkForm = document.querySelector("form[data-bulk]");
bulkForm?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const words = bulkForm.dataset;
  const button = bulkForm.querySelector("button");
  const progress = bulkForm.querySelector("progress");
  const summary = document.querySelector(".summary");
  const table = document.querySelector(".results");
  const body = table.querySelector("tbody");
  const lines = bulkForm.elements.lines.value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (lines.length === 0 || lines.length > MOST_LINES) {
    summary.textContent = words.size;
    return;
  }
  button.disabled = true;
  progress.hidden = false;
  table.hidden = false;
  body.replaceChildren();
  let made = 0;
  let refused = 0;
  const tell = () => {
    progress.value = (made + refused) / lines.length;
    summary.textContent = `${words.done.replace("{}", made)}, ${words.refused.replace("{}", refused)}`;
  };
  tell();
  try {
    for (let at = 0; at < lines.length; at += PART) {
      const answer = await fetch(words.bulk, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ lines: lines.slice(at, at + PART), first: at + 1, header: lines[0] }),
      });
      if (!answer.ok) throw new Error(`${answer.status}`);
      for (const result of await answer.json()) {
        if (result.short_url) made += 1;
        else refused += 1;
        body.append(bulkRow(result));
      }
      tell();
    }
  } catch (error) {
    summary.textContent = `${summary.textContent}. ${words.failed} (${error.message})`;
  } finally {
    button.disabled = false;
    progress.hidden = true;
  }
});

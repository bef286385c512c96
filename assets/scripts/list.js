// Comfort in lists and forms: choices that apply at once, and one box that selects all.
for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
document.querySelector(".language button")?.setAttribute("hidden", "");

const all = document.querySelector("[data-all]");
if (all) {
  const boxes = [...document.querySelectorAll('input[name="code"]')];
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) {
    box.addEventListener("change", () => { all.checked = boxes.every((one) => one.checked); });
  }
}


"use strict";

// files: dropped ones join those chosen before; too large a lot is said before it is sent
for (const form of document.querySelectorAll("[data-drop]")) {
  const input = form.querySelector("input[type=file]");
  const list = form.querySelector("[data-chosen]");
  const alert = form.querySelector("[data-alert]");
  const waiting = form.querySelector("[data-waiting]");
  let kept = [];

  const show = () => {
    list.replaceChildren(...kept.map((file) => Object.assign(document.createElement("li"), { textContent: file.name })));
    const size = kept.reduce((sum, file) => sum + file.size, 0);
    alert.hidden = size <= Number(form.dataset.most);
    alert.textContent = alert.hidden ? "" : form.dataset.tooLarge;
  };
  const take = (files) => {
    kept = [...kept, ...files];
    const all = new DataTransfer();
    for (const file of kept) all.items.add(file);
    input.files = all.files;
    show();
  };
  const over = (on) => (event) => {
    event.preventDefault();
    form.classList.toggle("over", on);
  };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    over(false)(event);
    take(event.dataTransfer.files);
  });
  input.addEventListener("change", () => {
    kept = [...input.files];
    show();
  });
  form.addEventListener("submit", (event) => {
    if (alert.hidden) waiting.textContent = "Sending and reading the files …";
    else event.preventDefault();
  });
}

// a run: how far it is, and the result when it is there
const status = document.querySelector("[data-status]");
if (status) {
  const bar = status.querySelector("progress");
  const words = status.querySelector("[data-words]");
  const ask = async () => {
    try {
      const answer = await fetch(status.dataset.status);
      const now = await answer.json();
      if (now.state !== "running") return location.reload();
      if (words.textContent !== now.words) words.textContent = now.words;
      if (now.fraction === null) bar.removeAttribute("value");
      else bar.value = now.fraction;
    } catch {
      words.textContent = "The page does not answer: is truthing serve still running?";
    }
    return setTimeout(ask, 500);
  };
  ask();
}

// the command: one press copies it
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    document.querySelector("[data-copied]").textContent = "copied";
  });
}

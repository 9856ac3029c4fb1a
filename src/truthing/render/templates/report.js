// The threshold: everything else on the page works without a script.
"use strict";
(() => {
  const points = JSON.parse(document.getElementById("points").textContent);
  if (!points) return;
  document.documentElement.classList.add("scripted");
  const slider = document.getElementById("threshold");
  const shown = document.getElementById("threshold-value");
  const number = (value) => (value === null ? "–" : value.toFixed(3));
  const last = points.thresholds.length - 1;
  const axes = { roc: ["false_alarm", "recall"], pr: ["recall", "precision"] };

  function show() {
    const k = last - slider.value; // thresholds fall along the curves and rise along the slider
    shown.textContent = points.thresholds[k];
    slider.setAttribute("aria-valuetext", "threshold " + points.thresholds[k]);
    for (const cell of document.querySelectorAll("[data-mean]")) {
      cell.textContent = number(points[cell.dataset.mean].mean[k]);
    }
    for (const cell of document.querySelectorAll("[data-limits]")) {
      const [low, high] = points[cell.dataset.limits].limits[cell.dataset.level];
      cell.textContent = number(low[k]) + " – " + number(high[k]);
    }
    for (const picture of document.querySelectorAll(".curve-picture")) {
      const [across, up] = axes[picture.dataset.kind];
      const ring = picture.querySelector(".moving");
      ring.setAttribute("cx", 100 * points[across].mean[k] + "%");
      ring.setAttribute("cy", 100 - 100 * points[up].mean[k] + "%");
    }
  }

  slider.max = last;
  slider.value = last - points.start;
  slider.addEventListener("input", show);
  show();
})();

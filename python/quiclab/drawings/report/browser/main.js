// The start of a report: reads the data, and brings its figures and tables of runs to life.

import { Colours } from "../../view/browser/colours.js";
import { Figures } from "./figures.js";
import { unpack } from "./packed.js";
import { Runs } from "./runs.js";

async function main() {
  const facts = await unpack(document.getElementById("data").textContent);
  let colours = new Colours(document.documentElement);
  const read = () => colours;
  const place = document.querySelector("#figures .figures");
  const figures = place && facts.figures.length ? new Figures(place, facts.figures, read) : null;
  const sweeps = facts.sweeps.map((sweep, at) => new Runs(document.querySelector(`[data-sweep="${at}"] .runs`), sweep, read));

  const redraw = () => {
    colours = new Colours(document.documentElement);
    figures?.draw();
    for (const sweep of sweeps) {
      sweep.chart.draw();
      sweep.detail.draw();
    }
  };
  document.getElementById("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = colours.isDark ? "light" : "dark";
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white.
  matchMedia("print").addEventListener("change", redraw);
  for (const button of document.querySelectorAll("button[data-figure]")) {
    const { figure, from, to } = button.dataset;
    button.addEventListener("click", () => figures.show(Number(figure), Number(from), Number(to)));
  }
  // For the tests and for the curious.
  window.quiclab = { figures, sweeps };
}

main().catch((error) => {
  const trouble = document.getElementById("trouble");
  trouble.textContent = `The figures cannot be shown: ${error.message}`;
  trouble.hidden = false;
  throw error;
});

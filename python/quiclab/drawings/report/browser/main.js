// The start of a report: reads the data, and brings its figures and tables of runs to life.

import { Colours } from "../../view/browser/colours.js";
import { byId, inside } from "../../view/browser/elements.js";
import { Figures } from "./figures.js";
import { unpack } from "./packed.js";
import { Runs } from "./runs.js";

/** @import { ReportFacts } from "./facts.js" */

async function main() {
  /** @type {ReportFacts} */
  const facts = await unpack(byId("data", HTMLScriptElement).text);
  let colours = new Colours(document.documentElement);
  const read = () => colours;
  const place = document.querySelector("#figures .figures");
  const figures = place && facts.figures.length ? new Figures(place, facts.figures, read) : null;
  const sweeps = facts.sweeps.map((sweep, at) => new Runs(inside(document, `[data-sweep="${at}"] .runs`, HTMLElement), sweep, read));

  const redraw = () => {
    colours = new Colours(document.documentElement);
    figures?.draw();
    for (const sweep of sweeps) {
      sweep.chart.draw();
      sweep.detail.draw();
    }
  };
  byId("theme", HTMLElement).addEventListener("click", () => {
    document.documentElement.dataset.theme = colours.isDark ? "light" : "dark";
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white.
  matchMedia("print").addEventListener("change", redraw);
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("button[data-figure]"))) {
    const { figure, from, to } = button.dataset;
    button.addEventListener("click", () => figures?.show(Number(figure), Number(from), Number(to)));
  }
  // For the tests and for the curious.
  Object.assign(window, { quiclab: { figures, sweeps } });
}

main().catch((error) => {
  const trouble = byId("trouble", HTMLElement);
  trouble.textContent = `The figures cannot be shown: ${error.message}`;
  trouble.hidden = false;
  throw error;
});

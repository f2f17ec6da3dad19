// The legend: a button for each stream, which switches it off and on.

import { button } from "./elements.js";
import { size } from "./text.js";

/** @import { Figure } from "./figure.js" */
/** @import { Stream } from "./model.js" */

/** Fills the legend with the streams of a figure.
 *  @param {HTMLElement} element @param {Figure} figure */
export function fillLegend(element, figure) {
  const { streams } = figure.direction;
  const chips = streams.map((stream) => {
    const swatch = document.createElement("i");
    const bytes = document.createElement("small");
    bytes.textContent = size(stream.bytes);
    const chip = button(() => choose([stream], !stream.shown), swatch, stream.label, bytes);
    chip.title = `${stream.bytes.toLocaleString("en-US")} B, of which ${stream.retransmitted.toLocaleString("en-US")} B were retransmitted`;
    chip.addEventListener("dblclick", () => {
      choose(streams, false);
      choose([stream], true);
    });
    return { chip, swatch };
  });

  const update = () => streams.forEach((stream, at) => {
    chips[at].chip.setAttribute("aria-pressed", String(stream.shown));
    chips[at].swatch.style.background = figure.colours.stream(at);
  });
  /** @param {Stream[]} some @param {boolean} shown */
  const choose = (some, shown) => {
    for (const stream of some) stream.shown = shown;
    figure.overview.forget();
    figure.resize();
    update();
  };
  const all = [button(() => choose(streams, true), "all"), button(() => choose(streams, false), "none")];
  element.replaceChildren(...(streams.length > 1 ? all : []), ...chips.map(({ chip }) => chip));
  update();
  return update;
}

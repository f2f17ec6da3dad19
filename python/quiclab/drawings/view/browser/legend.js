// The legend: a button for each stream, which switches it off and on.

import { size } from "./text.js";

/** Fills the legend with the streams of a figure. */
export function fillLegend(element, figure) {
  const { streams } = figure.direction;
  const chips = streams.map((stream) => {
    const chip = document.createElement("button");
    chip.type = "button";
    const swatch = document.createElement("i");
    const bytes = document.createElement("small");
    bytes.textContent = size(stream.bytes);
    chip.append(swatch, stream.label, bytes);
    chip.title = `${stream.bytes.toLocaleString("en-US")} B, of which ${stream.retransmitted.toLocaleString("en-US")} B were retransmitted`;
    chip.addEventListener("click", () => choose([stream], !stream.shown));
    chip.addEventListener("dblclick", () => {
      choose(streams, false);
      choose([stream], true);
    });
    return chip;
  });

  const update = () => streams.forEach((stream, at) => {
    chips[at].setAttribute("aria-pressed", String(stream.shown));
    chips[at].firstChild.style.background = figure.colours.stream(at);
  });
  const choose = (some, shown) => {
    for (const stream of some) stream.shown = shown;
    figure.overview.forget();
    figure.resize();
    update();
  };
  const all = document.createElement("button");
  all.type = "button";
  all.textContent = "all";
  all.addEventListener("click", () => choose(streams, true));
  const none = document.createElement("button");
  none.type = "button";
  none.textContent = "none";
  none.addEventListener("click", () => choose(streams, false));
  element.replaceChildren(...(streams.length > 1 ? [all, none] : []), ...chips);
  update();
  return update;
}

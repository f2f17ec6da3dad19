// Elements of HTML and SVG, made without HTML text: what comes from outside stays text.

/** An element with its properties, and what is in it: elements and texts. `aria` and `data` are tables of attributes. */
export function element(name, properties = {}, ...inside) {
  const made = document.createElement(name);
  const { aria, data, role, ...rest } = properties;
  Object.assign(made, rest);
  if (role) made.setAttribute("role", role);
  for (const [key, value] of Object.entries(aria ?? {})) made.setAttribute(`aria-${key}`, value);
  Object.assign(made.dataset, data ?? {});
  made.append(...inside.filter((one) => one !== null && one !== undefined));
  return made;
}

/** A name of a column whose lines end after a dot or an underscore, if it needs several. */
export function breaking(name) {
  return name.split(/(?<=[._])/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
}

/** An element of SVG with its attributes. */
export function drawn(name, attributes = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

/** A labelled choice. */
export function choice(label, options, value, changed) {
  const select = element("select");
  select.append(...options.map(([key, text]) => new Option(text, key)));
  select.value = value;
  select.addEventListener("change", () => changed(select.value));
  return element("label", { className: "choice" }, label, select);
}

/** A labelled box to tick. */
export function box(label, checked, changed) {
  const input = element("input", { type: "checkbox", checked });
  input.addEventListener("change", () => changed(input.checked));
  return element("label", {}, input, label);
}

// Elements of HTML and SVG, made without HTML text: what comes from outside stays text.

/** An element with its properties, and what is in it: elements and texts. `aria` is a table of attributes.
 *  @template {keyof HTMLElementTagNameMap} Name
 *  @param {Name} name @param {Partial<HTMLElementTagNameMap[Name]> & { aria?: Record<string, string> }} properties
 *  @param {(string | Node | null)[]} inside */
export function element(name, properties = {}, ...inside) {
  const made = document.createElement(name);
  const { aria, role, ...rest } = properties;
  Object.assign(made, rest);
  if (role) made.setAttribute("role", role);
  for (const [key, value] of Object.entries(aria ?? {})) made.setAttribute(`aria-${key}`, value);
  made.append(...inside.filter((one) => one !== null));
  return made;
}

/** A name of a column whose lines end after a dot or an underscore, if it needs several.
 *  @param {string} name */
export function breaking(name) {
  return name.split(/(?<=[._])/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
}

/** An element of SVG with its attributes.
 *  @template {keyof SVGElementTagNameMap} Name
 *  @param {Name} name @param {Record<string, string | number | undefined>} attributes @param {Node[]} inside */
export function drawn(name, attributes = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, String(value));
  made.append(...inside);
  return made;
}

/** A labelled choice.
 *  @param {string} label @param {[key: string, text: string][]} options @param {string} value
 *  @param {(value: string) => void} changed */
export function choice(label, options, value, changed) {
  const select = element("select");
  select.append(...options.map(([key, text]) => new Option(text, key)));
  select.value = value;
  select.addEventListener("change", () => changed(select.value));
  return element("label", { className: "choice" }, label, select);
}

/** A labelled box to tick.
 *  @param {string} label @param {boolean} checked @param {(isChecked: boolean) => void} changed */
export function box(label, checked, changed) {
  const input = element("input", { type: "checkbox", checked });
  input.addEventListener("change", () => changed(input.checked));
  return element("label", {}, input, label);
}

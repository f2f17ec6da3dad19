// Elements of the page.

/** The element that a selector finds in another one, which is of a class.
 *  @template {Element} Kind
 *  @param {ParentNode} where @param {string} selector @param {new () => Kind} kind
 *  @throws {Error} if there is none */
export function inside(where, selector, kind) {
  const found = where.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} ${selector}`);
  return found;
}

/** The element of the page with an id.
 *  @template {Element} Kind
 *  @param {string} id @param {new () => Kind} kind */
export function byId(id, kind) {
  return inside(document, `#${id}`, kind);
}

/** A button, and what is in it.
 *  @param {() => void} act @param {(string | Node)[]} content */
export function button(act, ...content) {
  const made = document.createElement("button");
  made.type = "button";
  made.append(...content);
  made.addEventListener("click", act);
  return made;
}

/** A button that looks like a link.
 *  @param {() => void} act @param {string | Node} content */
export function link(act, content) {
  const made = button(act, content);
  made.className = "link";
  return made;
}

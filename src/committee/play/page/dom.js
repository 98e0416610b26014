// Small helpers to make elements.

const SVG = "http://www.w3.org/2000/svg";

export const find = (id) => document.getElementById(id);

export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// What a style sheet says a colour is.
export const color = (variable) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();

export const classColor = (code) => color(`class-${code + 1}`);

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// Formulas as MathML, which browsers set themselves.
//
// A child is an element; a number; or text: one letter is a variable, the rest an operator.

const SPACE = "http://www.w3.org/1998/Math/MathML";

export function shown(value) {
  // Three digits or three decimals, with a true minus.
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value).replace("-", "−");
  if (size > 0 && (size < 5e-4 || size >= 1e6)) {
    return value.toExponential(1).replace(/-/g, "−");
  }
  const decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
  return value.toFixed(decimals).replace("-", "−");
}

// A number that somebody chose, without zeros at its end.
export const chosen = (value) => String(Number(value.toPrecision(3))).replace("-", "−");

function node(child) {
  if (child instanceof Node) return child;
  if (typeof child === "number") return element("mn", shown(child));
  if (/^[\d.]+$/.test(child)) return element("mn", child);
  if (/^\p{L}$/u.test(child)) return element("mi", child);
  return element("mo", child);
}

function element(name, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const child of children) {
    made.append(typeof child === "string" && /^m[ino]$|^mtext$/.test(name) ? child : node(child));
  }
  return made;
}

const row = (...children) => element("mrow", ...children);
const grouped = (child) => (Array.isArray(child) ? row(...child) : child);

export const words = (text) => element("mtext", text);
export const name = (text) => element("mi", text);
export const frac = (above, below) => element("mfrac", grouped(above), grouped(below));
export const sub = (base, below) => element("msub", grouped(base), grouped(below));
export const sup = (base, above) => element("msup", grouped(base), grouped(above));
export const root = (child) => element("msqrt", grouped(child));

export const space = () => {
  const made = element("mspace");
  made.setAttribute("width", "0.2em");
  return made;
};
export const ln = () => row(space(), name("ln"), space());

export function sum(below, above) {
  const sign = element("mo", "∑");
  return above === undefined
    ? element("munder", sign, grouped(below))
    : element("munderover", sign, grouped(below), grouped(above));
}

// An equation as parts that may stand in several lines; each is a list of children.
export function equation(...parts) {
  const line = document.createElement("div");
  line.className = "equation";
  for (const part of parts) {
    const math = document.createElementNS(SPACE, "math");
    math.setAttribute("displaystyle", "true");
    math.append(row(...part));
    line.append(math);
  }
  return line;
}

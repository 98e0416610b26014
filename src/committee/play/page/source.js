// Where answers come from: the server of this page, asked one question at a time, or a recording.

import { bytes } from "./run.js";

// Unpacks the answer of a recording.
export async function unpack(text) {
  const packed = new Blob([bytes(text)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json();
}

export class Source {
  constructor(token) {
    this.token = token;
    this.waiting = new Map();
  }

  // Asks; of several questions of a kind only the newest waits, and the others are never answered.
  ask(question, content) {
    const line = this.waiting.get(question) ?? { isBusy: false, next: null };
    this.waiting.set(question, line);
    return new Promise((resolve, reject) => {
      line.next = { content, resolve, reject };
      if (!line.isBusy) this.send(question, line);
    });
  }

  async send(question, line) {
    const { content, resolve, reject } = line.next;
    line.next = null;
    this.mark(line, true);
    try {
      resolve(await this.fetch(question, content));
    } catch (error) {
      reject(error);
    } finally {
      this.mark(line, false);
      if (line.next) this.send(question, line);
    }
  }

  // Keeps whether an answer is on its way, also for style sheets.
  mark(line, isBusy) {
    line.isBusy = isBusy;
    const isAny = [...this.waiting.values()].some((each) => each.isBusy);
    document.documentElement.toggleAttribute("data-busy", isAny);
  }

  async fetch(question, content) {
    let response;
    try {
      response = await fetch(`/ask/${question}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Committee-Token": this.token },
        body: JSON.stringify(content),
      });
    } catch {
      throw new Error("The playground does not answer; is committee play still running?");
    }
    const found = await response.json();
    if (!response.ok) throw new Error(found.error);
    return found;
  }
}

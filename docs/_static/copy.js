// Puts a button on each block of code that copies it. What code prints has none.
document.addEventListener("DOMContentLoaded", () => {
  const blocks = document.querySelectorAll(
    ".highlight-python > .highlight, .highlight-bash > .highlight, .highlight-console > .highlight",
  );
  for (const block of blocks) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      const text = block.querySelector("pre").textContent;
      const done = await navigator.clipboard.writeText(text).then(() => true, () => false);
      button.textContent = done ? "Copied" : "Not allowed here";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }
});

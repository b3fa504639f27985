// The copy button of a shell session copies its commands, without prompts and output.
// The theme copies the attribute `data-copy` of a block if it has one.
const commands = (text) => {
  const copied = [];
  let continues = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("$ ")) {
      copied.push(line.slice(2));
      continues = true;
    } else if (continues && line.startsWith(">")) {
      copied.push(line.slice(2));
    } else {
      continues = false;
    }
  }
  return copied.join("\n");
};

const prepare = () => {
  for (const block of document.querySelectorAll(".language-console code")) {
    block.dataset.copy = commands(block.textContent);
  }
};

// With instant navigation, the theme replaces the page and emits the new document.
if (window.document$) window.document$.subscribe(prepare);
else prepare();

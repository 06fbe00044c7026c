/** Code blocks of documents, for tests that do what a reader does. */
import { readFileSync } from 'node:fs';

/** `marks` are the words behind the language; `line` is where its text begins. */
export type Block = { document: string; line: number; language: string; marks: string[]; text: string };

const CHECKOUT = new URL('../..', import.meta.url);

/** The fenced blocks of a document, by its path in the checkout. */
export function readBlocks(document: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of readFileSync(new URL(document, CHECKOUT), 'utf8').split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence === null) {
      if (open !== undefined) open.text += `${line}\n`;
    } else if (open === undefined) {
      const [language = '', ...marks] = fence[1]!.split(' ');
      open = { document, line: index + 2, language, marks, text: '' };
    } else {
      blocks.push(open);
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${document}:${open.line}: the block has no end`);
  return blocks;
}

/** A block's command lines; those that go on behind a backslash are one. */
export function commandLines({ text, document, line }: Block): string[] {
  if (text.includes('<<')) throw new Error(`${document}:${line}: a file is a block of its own, with its name on top`);
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((command) => command.replace(/\s+#\s.*$/, '').trim())
    .filter((command) => command !== '' && !command.startsWith('#'));
}

/** The name of the file that a block is the content of: its first line, as a comment. */
export function fileNameOf({ text }: Block): string | undefined {
  return /^# (\S+\.(?:yaml|toml))\n/.exec(text)?.[1];
}

/** Code blocks in documents, for tests that run them as a reader would. */
import { readFileSync } from 'node:fs';

/** `marks` are the words that follow the language; `line` is the first line of the text. */
export type Block = { document: string; line: number; language: string; marks: string[]; text: string };

const CHECKOUT = new URL('../..', import.meta.url);

/** Returns the fenced code blocks of a document, given its path in the checkout. */
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

/** A block's command lines; lines that are continued with a backslash are joined. */
export function commandLines({ text, document, line }: Block): string[] {
  if (text.includes('<<'))
    throw new Error(`${document}:${line}: a file must be a separate block that starts with its name`);
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((command) => command.replace(/\s+#\s.*$/, '').trim())
    .filter((command) => command !== '' && !command.startsWith('#'));
}

/** The name of the file whose content a block is: a comment in its first line. */
export function fileNameOf({ text }: Block): string | undefined {
  return /^# (\S+\.(?:yaml|toml))\n/.exec(text)?.[1];
}

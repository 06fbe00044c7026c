import { sleep } from '@podwright/base';
import { Picture } from './picture.ts';
import { canRedraw } from './terminal.ts';
import { escapeTerminal, print } from './terminal-text.ts';

export type Redrawing = {
  periodMs: number;
  /** Which lines of the text to show if the terminal has too few rows. */
  shown: 'first' | 'last';
};

/**
 * Repeatedly shows a text in place on a terminal, until the process ends. If the output is not a terminal, prints the text whenever it has
 * changed.
 */
export async function redraw(read: () => Promise<string>, { periodMs, shown }: Redrawing): Promise<never> {
  const picture = canRedraw(process.stdout) ? new Picture(process.stdout) : undefined;
  let printed: string | undefined;
  for (;;) {
    const text = await read();
    if (picture !== undefined) {
      const rows = Math.max(1, (process.stdout.rows || 24) - 1);
      const lines = text.split('\n');
      picture.draw((shown === 'first' ? lines.slice(0, rows) : lines.slice(-rows)).map(escapeTerminal));
    } else if (text !== printed) print(text);
    printed = text;
    await sleep(periodMs);
  }
}

import { displayWidth } from './text-width.ts';

/**
 * Lines at the end of a terminal that are drawn over in place. After Ctrl-Z and `fg` the shell's own lines stand there: then
 * `onContinue` is called, and the next drawing begins below them.
 */
export class Picture implements Disposable {
  readonly #out: NodeJS.WriteStream;
  readonly #continued: () => void;
  /** The cells of each line. */
  #drawn: number[] = [];

  constructor(out: NodeJS.WriteStream, onContinue: () => void = () => undefined) {
    this.#out = out;
    this.#continued = () => {
      this.#drawn = [];
      onContinue();
    };
    process.on('SIGCONT', this.#continued);
  }

  /** In one piece, so that nothing flickers; what is `above` stays. */
  draw(lines: string[], above = ''): void {
    this.#out.write(this.#erasure() + above + lines.map((line) => `${line}\n`).join(''));
    this.#drawn = lines.map(displayWidth);
  }

  [Symbol.dispose](): void {
    process.off('SIGCONT', this.#continued);
  }

  /** From the first column: the terminal shows `^C` where the cursor is. A terminal that became narrower wraps lines. */
  #erasure(): string {
    const width = this.#out.columns || 80;
    const rows = this.#drawn.reduce((sum, cells) => sum + Math.max(1, Math.ceil(cells / width)), 0);
    return rows === 0 ? '' : `\r\x1b[${rows}A\x1b[0J`;
  }
}

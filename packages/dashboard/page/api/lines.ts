/** Splits a text stream into lines. */

/** Default limit for the length of a line. Bounds the memory for streams without newlines. */
const MAX_LINE_CHARACTERS = 4 << 20;

/** Splits chunks of text into lines. Lines longer than `max` characters are truncated. */
export class LineSplitter {
  readonly #max: number;
  #rest = '';
  #isCut = false;

  constructor(max = MAX_LINE_CHARACTERS) {
    this.#max = max;
  }

  /** Returns the lines completed by this chunk, without newlines. */
  push(chunk: string): string[] {
    const parts = chunk.split('\n');
    const last = parts.pop()!;
    const lines = parts.map((part, index) => (index === 0 ? this.#append(part) : part.slice(0, this.#max)));
    if (parts.length > 0) {
      this.#rest = '';
      this.#isCut = false;
    }
    this.#rest = this.#append(last);
    return lines;
  }

  /** Returns the text after the last newline, or undefined if there is none. */
  end(): string | undefined {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? undefined : rest;
  }

  #append(part: string): string {
    if (this.#isCut) return this.#rest;
    const whole = this.#rest + part;
    if (whole.length <= this.#max) return whole;
    this.#isCut = true;
    return whole.slice(0, this.#max);
  }
}

/** Yields lists of lines, one for each chunk that completes a line. Throws the errors of `chunks`. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, max?: number): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  const splitter = new LineSplitter(max);
  for await (const chunk of chunks) {
    const lines = splitter.push(decoder.decode(chunk, { stream: true }));
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last !== undefined) yield [last];
}

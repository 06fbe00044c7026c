/** A position in a text, starting at 1:1. */
export type TextPosition = { line: number; column: number };

/** Converts offsets in a text to lines and columns. */
export class TextLines {
  readonly #text: string;
  #starts: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  positionOf(offset: number): TextPosition {
    this.#starts ??= startsOf(this.#text);
    let [line, above] = [0, this.#starts.length];
    while (above - line > 1) {
      const middle = (line + above) >> 1;
      if (this.#starts[middle]! <= offset) line = middle;
      else above = middle;
    }
    return { line: line + 1, column: Math.max(0, offset - this.#starts[line]!) + 1 };
  }
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

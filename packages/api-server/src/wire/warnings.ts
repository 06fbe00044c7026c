/** Bounds of all warnings of a response in characters, and of one warning once the total is exceeded. */
const MAX_TOTAL = 4096;
const MAX_ONE = 256;

/** Collects the warnings of a request for the response's Warning headers. */
export class Warnings {
  readonly #texts = new Set<string>();

  /** Adds a warning. A text that was added before is ignored. */
  readonly add = (text: string): void => {
    if (text !== '' && this.#texts.size < MAX_TOTAL) this.#texts.add(text);
  };

  /** The values of the headers, such as `299 - "unknown field \"spec.x\""`. */
  headers(): string[] {
    const texts = [...this.#texts].filter((text) => !/\p{Cc}/u.test(text));
    const isTooLong = texts.reduce((total, text) => total + text.length, 0) > MAX_TOTAL;
    let total = 0;
    return texts
      .map((text) => (isTooLong ? text.slice(0, MAX_ONE) : text))
      .filter((text) => {
        total += text.length;
        return total <= MAX_TOTAL;
      })
      .map((text) => headerText(`299 - "${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`));
  }
}

/** A text as a header value in UTF-8: node:http sends each character of a header as one byte. */
const headerText = (text: string): string => Buffer.from(text.toWellFormed()).toString('latin1');

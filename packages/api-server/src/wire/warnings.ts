/**
 * Maximum total length of a response's warnings, in characters. If it is exceeded, each warning is truncated to MAX_ONE, and those that
 * still do not fit are dropped.
 */
const MAX_TOTAL = 4096;
const MAX_ONE = 256;

/** Collects a request's warnings for the response's Warning headers. */
export class Warnings {
  readonly #texts = new Set<string>();

  /** Adds a warning, unless the response already has the same one. */
  readonly add = (text: string): void => {
    if (text !== '' && this.#texts.size < MAX_TOTAL) this.#texts.add(text);
  };

  /** Returns the Warning header values, e.g. `299 - "unknown field \"spec.x\""`. */
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

/** Converts a string to a header value that is sent as UTF-8. node:http sends each character of a header as one byte. */
const headerText = (text: string): string => Buffer.from(text.toWellFormed()).toString('latin1');

/** As Go's `strconv.Quote`, except for characters that Go writes as `\x` or `\u` escapes of its own. */
export const quoted = (text: string): string => JSON.stringify(text);

/** A list of strings as Go's `%q` prints it. */
export const quotedList = (texts: readonly string[]): string => `[${texts.map(quoted).join(' ')}]`;

/** Errors as Go's `errors.NewAggregate` prints them: each once, in brackets if there are several. */
export function aggregated(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}

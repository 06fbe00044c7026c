import { goQuote } from '@podwright/kube-api';

/** Prints a list of strings like Go's `%q`. */
export const quotedList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;

/** Prints errors like Go's `errors.NewAggregate`: without duplicates, and in brackets if there are several. */
export function aggregated(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}

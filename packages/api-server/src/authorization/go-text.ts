import { goQuote } from '@podwright/kube-api';

/** Formats a list of strings like Go's `%q`. */
export const quotedList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;

/** Formats errors like Go's `errors.NewAggregate`: without duplicates, and in brackets if there is more than one. */
export function aggregated(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}

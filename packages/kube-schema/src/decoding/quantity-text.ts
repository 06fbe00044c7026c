/** The canonical form of quantities, as stored and printed by Kubernetes (apimachinery, api/resource). */
import { formatQuantity, isQuantity, parseQuantity } from '@podwright/kube-api';

/** Powers of ten by quantity suffix. A quantity written with an exponent also has an exponent in its canonical form. */
const EXPONENTS: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/**
 * Returns the quantity's canonical form: `1` for `1000m`, `1Gi` for `1024Mi`, `10e3` for `1e4`. Returns `undefined` if the text is not a
 * quantity.
 */
export function canonicalQuantity(text: string): string | undefined {
  if (!isQuantity(text)) return undefined;
  const canonical = formatQuantity(parseQuantity(text).nanos, text);
  if (!/[eE][+-]?\d/.test(text)) return canonical;
  const [, digits = '', suffix = ''] = /^(-?\d+)(\D*)$/.exec(canonical) ?? [];
  return suffix === '' ? digits : `${digits}e${EXPONENTS[suffix]}`;
}

/** Upstream's error message for text that is not a valid quantity. */
export const QUANTITY_ERROR =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

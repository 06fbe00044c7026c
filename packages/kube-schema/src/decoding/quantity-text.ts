/** Quantities in the canonical form in which Kubernetes stores and shows them (apimachinery, api/resource). */
import { formatQuantity, isQuantity, parseQuantity } from '@podwright/kube-api';

/** Powers of ten of the suffixes, for quantities that were given with an exponent. */
const EXPONENTS: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** `1000m` is `1`, `1024Mi` is `1Gi`, `1e4` is `10e3`. Undefined if the text is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  if (!isQuantity(text)) return undefined;
  const canonical = formatQuantity(parseQuantity(text).nanos, text);
  if (!/[eE][+-]?\d/.test(text)) return canonical;
  const [, digits = '', suffix = ''] = /^(-?\d+)(\D*)$/.exec(canonical) ?? [];
  return suffix === '' ? digits : `${digits}e${EXPONENTS[suffix]}`;
}

/** Upstream's error for a text that is no quantity. */
export const QUANTITY_ERROR =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

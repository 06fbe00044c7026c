import { formatQuantity, isQuantity, parseQuantity } from '@podwright/kube-api';

/** A quantity in JSON: a string or, from some clients, a number. */
export type JsonQuantity = string | number;

/** Returns a quantity in canonical form, e.g. `1Gi` for `1024Mi`. Missing quantities are printed as `0`, as in upstream's tables. */
export function quantityText(quantity: JsonQuantity | null | undefined): string {
  const text = String(quantity ?? 0);
  return isQuantity(text) ? formatQuantity(parseQuantity(text).nanos, text) : text;
}

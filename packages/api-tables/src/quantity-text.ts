import { formatQuantity, isQuantity, parseQuantity } from '@podwright/kube-api';

/** A quantity in JSON: a string, or a number from some clients. */
export type JsonQuantity = string | number;

/** Returns the canonical form of a quantity, such as `1Gi` for `1024Mi`. A missing quantity is printed as `0`, as in upstream's tables. */
export function quantityText(quantity: JsonQuantity | null | undefined): string {
  const text = String(quantity ?? 0);
  return isQuantity(text) ? formatQuantity(parseQuantity(text).nanos, text) : text;
}

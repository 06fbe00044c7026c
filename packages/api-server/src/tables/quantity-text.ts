import { formatQuantity, isQuantity, parseQuantity } from '@podwright/kube-api';

/** A quantity in JSON: a string, or a number in what some clients send. */
export type JsonQuantity = string | number;

/** The canonical form of a quantity: `1Gi` for `1024Mi`. `0` for an absent one, as upstream's tables have it. */
export function quantityText(quantity: JsonQuantity | null | undefined): string {
  const text = String(quantity ?? 0);
  return isQuantity(text) ? formatQuantity(parseQuantity(text).nanos, text) : text;
}

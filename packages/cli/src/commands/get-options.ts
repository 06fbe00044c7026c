import type { ObjectQuery } from '../client/object-client.ts';
import type { ObjectKind } from '../client/object-names.ts';
import type { PrintOptions } from './object-printer.ts';

export type GetOptions = PrintOptions & {
  namespace: string;
  allNamespaces?: boolean;
  watch?: boolean;
  selector?: string;
  fieldSelector?: string;
  sortBy?: string;
  ignoreNotFound?: boolean;
};

/** Converts the options of `get` to a query for the node's API. */
export function queryOf(options: Omit<GetOptions, keyof PrintOptions>): ObjectQuery {
  const { namespace, allNamespaces, selector, fieldSelector } = options;
  return { namespace: allNamespaces ? undefined : namespace, labelSelector: selector, fieldSelector };
}

/**
 * Returns the message to print if nothing was selected, which is not an error. It starts with kubectl's wording and describes the
 * selection.
 */
export function nothingFound(
  kinds: ObjectKind[],
  { namespace, allNamespaces, selector, fieldSelector }: Omit<GetOptions, keyof PrintOptions>,
): string {
  const what = kinds.map(({ plural }) => plural).join(', ');
  const match = selector || fieldSelector ? ' match the selector' : '';
  if (allNamespaces || kinds.every(({ namespaced }) => !namespaced)) return `No resources found: no ${what}${match}`;
  return `No resources found: no ${what} in the namespace ${namespace}${match}; -A lists those of all namespaces`;
}

import type { ApiObject } from '@podwright/kube-kinds';
import type { IndexValue, ListOptions as StoreListOptions } from '../store/object-store.ts';
import { matchesFields, parseFieldSelector, requiredValue } from './field-selector.ts';
import { matchesLabels } from './label-requirements.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { ServedKind } from './served-kind.ts';

/**
 * The indexes for lists with field selectors, by store resource and field. The store must be opened with them. For example, kubelets often
 * list the pods on their node.
 */
export const STORE_INDEXES: Readonly<Record<string, Readonly<Record<string, IndexValue>>>> = {
  pods: { 'spec.nodeName': ({ spec }) => (spec as { nodeName?: string } | undefined)?.nodeName ?? '' },
};

/** Selectors that need more comparisons per object than this are costly to match. Selectors of typical clients need only a few. */
const COSTLY_COMPARISONS = 100;

/** The objects selected by a request. */
export type Selection = {
  /** Whether there is a label or field selector, which might exclude objects. */
  isFiltered: boolean;
  /** Whether matching an object takes so long that thousands of watches must not do it at the same time. */
  isCostly: boolean;
  /** The namespace to read objects from, or `undefined` for all namespaces. */
  namespace: string | undefined;
  /** The only name that can match if the field selector specifies one. */
  name: string | undefined;
  index: StoreListOptions['index'];
  matches: (object: ApiObject) => boolean;
};

export type SelectorTexts = { labelSelector: string; fieldSelector: string };

/** Parses a request's selectors. `namespace` is '' for all namespaces. Throws `ApiError`. */
export function selectionOf(kind: ServedKind, namespace: string, texts: SelectorTexts): Selection {
  const labels = parseLabelSelector(texts.labelSelector);
  const fields = parseFieldSelector(kind, texts.fieldSelector);
  const field = Object.keys(STORE_INDEXES[kind.storeResource] ?? {}).find(
    (one) => requiredValue(fields, one) !== undefined,
  );
  const isNamespaced = kind.resource.namespaced;
  const comparisons = labels.reduce((sum, { values }) => sum + 1 + values.length, fields.length);
  return {
    isFiltered: labels.length > 0 || fields.length > 0,
    isCostly: comparisons > COSTLY_COMPARISONS,
    namespace: isNamespaced ? namespace || requiredValue(fields, 'metadata.namespace') : undefined,
    name: requiredValue(fields, 'metadata.name'),
    index: field === undefined ? undefined : { name: field, value: requiredValue(fields, field)! },
    matches: (object) => matchesLabels(labels, object.metadata.labels) && matchesFields(kind, fields, object),
  };
}

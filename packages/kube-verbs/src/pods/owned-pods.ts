import { PodwrightError, withTimeout } from '@podwright/base';
import type { LabelSelector, Pod } from '@podwright/kube-api';
import type { ApiObject, ApiPort } from '../api-port.ts';
import { labelsText, selectorText } from '../text/selector-text.ts';
import { inOrderOfChoice, type PodPurpose } from './pod-order.ts';

/** Kinds whose selector is a LabelSelector. `BY_LABELS`: kinds whose selector is a plain map of labels. */
const BY_SELECTOR = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job']);
const BY_LABELS = new Set(['ReplicationController', 'Service']);

/**
 * Returns the label selector of an object's pods. Throws `invalid_argument` if the kind does not select pods, or a Service or
 * ReplicationController has no selector.
 */
export function podSelectorOf({ kind = '', metadata, spec }: ApiObject): string {
  const { selector } = (spec ?? {}) as { selector?: LabelSelector | Record<string, string> };
  if (BY_SELECTOR.has(kind)) return selectorText(selector as LabelSelector | undefined);
  if (!BY_LABELS.has(kind))
    throw new PodwrightError('invalid_argument', `${kind} ${metadata.name}: this kind does not select pods`);
  const text = labelsText(selector as Record<string, string> | undefined);
  if (text !== '') return text;
  throw new PodwrightError(
    'invalid_argument',
    `invalid ${kind.toLowerCase()} '${metadata.name}': ${kind} is defined without a selector`,
  );
}

/** `timeoutMs`: how long to wait for a pod if the workload has none, in milliseconds. */
export type ChoiceOptions = { purpose: PodPurpose; timeoutMs: number };

/**
 * Returns the pods of a workload or Service, best choice first. If there are none, waits for one; rejects with `deadline_exceeded` if none
 * appears in time.
 */
export async function podsOf(api: ApiPort, object: ApiObject, { purpose, timeoutMs }: ChoiceOptions): Promise<Pod[]> {
  const { namespace = '' } = object.metadata;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const query = { labelSelector: podSelectorOf(object) };
  const list = async () => ((await api.call({ method: 'GET', path, query })) as { items: Pod[] | null }).items ?? [];
  const pods = await list();
  if (pods.length > 0) return inOrderOfChoice(pods, purpose);
  using deadline = withTimeout(undefined, timeoutMs, 'wait for a pod');
  const found = new AbortController();
  using _end = { [Symbol.dispose]: () => found.abort() };
  const signal = AbortSignal.any([deadline, found.signal]);
  // a watch without a resource version starts with the existing pods, so none is missed
  for await (const { type } of api.watch({ method: 'GET', path, query: { ...query, watch: 'true' }, signal }))
    if (type === 'ADDED' || type === 'MODIFIED') return inOrderOfChoice(await list(), purpose);
  const { kind, metadata } = object;
  throw new PodwrightError(
    'deadline_exceeded',
    `timed out waiting for a pod of ${kind?.toLowerCase()} ${metadata.name}`,
  );
}

import type { ApiObject } from '@podwright/kube-kinds';
import type { ObjectKey, StoreEvent, StoreWatch } from './object-store.ts';

export const podKey = (name: string, namespace = 'default'): ObjectKey => ({ resource: 'pods', namespace, name });

export const pod = (name: string, nodeName = ''): ApiObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { nodeName },
});

export const configMap = (name: string, text: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' },
  data: { text },
});

export const nodeNameOf = ({ spec }: ApiObject): string | undefined =>
  (spec as { nodeName?: string }).nodeName || undefined;

export async function take(watch: StoreWatch, count: number): Promise<StoreEvent[]> {
  const taken: StoreEvent[] = [];
  for await (const events of watch) {
    taken.push(...events);
    if (taken.length >= count) break;
  }
  return taken;
}

/** Formats events like `ADDED default/a@5`. */
export const described = (events: readonly StoreEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.key}@${object.revision}`);

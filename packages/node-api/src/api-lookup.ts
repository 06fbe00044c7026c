import { isNotFound } from '@podwright/base';
import { type LocalObject, type ManifestObject, type ObjectLookup, type Pod, podReferences } from '@podwright/kube-api';
import { pathIn } from './api-resources.ts';
import type { KubernetesApi } from './kubernetes-api.ts';

const CORE = { base: '/api/v1', namespaced: true };
const RESOURCES = {
  ConfigMap: { ...CORE, plural: 'configmaps' },
  Secret: { ...CORE, plural: 'secrets' },
  RuntimeClass: { base: '/apis/node.k8s.io/v1', plural: 'runtimeclasses', namespaced: false },
};

/** Reads the API objects referenced by the pods. */
export async function readReferences(
  api: Pick<KubernetesApi, 'call'>,
  objects: readonly ManifestObject[],
): Promise<ObjectLookup> {
  const found = new Map<string, LocalObject>();
  const pods = objects.filter((object): object is Pod => object.kind === 'Pod');
  for (const pod of pods)
    for (const { kind, name } of podReferences(pod)) {
      const namespace = kind === 'RuntimeClass' ? '' : pod.metadata.namespace;
      const key = keyOf(kind, namespace, name);
      if (found.has(key)) continue;
      const call = { method: 'GET', path: pathIn(RESOURCES[kind], namespace, name), what: `read ${key}` } as const;
      const object = await api.call(call).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (object !== undefined) found.set(key, object as unknown as LocalObject);
    }
  return { get: (kind, namespace, name) => found.get(keyOf(kind, namespace, name)) as never };
}

const keyOf = (kind: string, namespace: string, name: string) => `${kind} ${namespace}/${name}`;

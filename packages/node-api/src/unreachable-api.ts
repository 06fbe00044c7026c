import type { OtherObject } from '@podwright/kube-api';
import type { KubernetesObject } from './kubernetes-api.ts';

const BINDINGS = new Set(['RoleBinding', 'ClusterRoleBinding']);
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';

/**
 * Returns a warning if the objects give service accounts rights on the API, but pods cannot reach it: operators and ingress controllers
 * would wait without end. `find` reads an object by its path.
 */
export async function unreachableApi(
  objects: readonly OtherObject[],
  find: (path: string) => Promise<KubernetesObject | undefined>,
): Promise<string[]> {
  const binding = objects.find(({ kind, subjects }) => BINDINGS.has(kind) && namesAccounts(subjects));
  if (binding === undefined || (await find(SLICE)) !== undefined) return [];
  return [
    `${binding.kind} ${binding.metadata.name} is for pods that use the Kubernetes API, which pods cannot reach: ` +
      'set listen in [api] to an address of this host, such as "192.0.2.1:6443"',
  ];
}

const namesAccounts = (subjects: unknown): boolean =>
  Array.isArray(subjects) && subjects.some((one: { kind?: unknown } | null) => one?.kind === 'ServiceAccount');

/** The objects every namespace has: the service account `default`, and the CA certificate in the ConfigMap `kube-root-ca.crt`. */

import { ApiError } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';

const ACCOUNT = 'default';
const CERTIFICATE = 'kube-root-ca.crt';
const NOTICE = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/**
 * Creates the service account `default` and the ConfigMap `kube-root-ca.crt` in each namespace, and restores them if they are deleted or
 * changed.
 */
export async function fillNamespaces(parts: ControllerParts & { caCertificate: string }): Promise<void> {
  const fill = (namespace: string) => fillNamespace(parts, namespace);
  const ofNamespaced = (name: string) => ({
    listed: () => {},
    changed: async ({ object }: { object: { key: string } }) => {
      const [namespace = '', given] = object.key.split('/');
      if (given === name) await fill(namespace);
    },
  });
  await Promise.all([
    followResource(
      'namespaces',
      {
        listed: async (objects) => {
          for (const { key } of objects) await fill(key.slice(1));
        },
        changed: async ({ type, object }) => {
          if (type === 'ADDED') await fill(object.key.slice(1));
        },
      },
      parts,
    ),
    followResource('serviceaccounts', ofNamespaced(ACCOUNT), parts),
    followResource('configmaps', ofNamespaced(CERTIFICATE), parts),
  ]);
}

async function fillNamespace(parts: ControllerParts & { caCertificate: string }, namespace: string): Promise<void> {
  const { store, caCertificate } = parts;
  const { metadata } = store.get({ resource: 'namespaces', namespace: '', name: namespace })?.decode() ?? {};
  if (metadata === undefined || metadata.deletionTimestamp !== undefined) return;
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT } };
  if (store.get({ resource: 'serviceaccounts', namespace, name: ACCOUNT }) === undefined)
    await create(parts, { plural: 'serviceaccounts', namespace, object: account });
  const data = { 'ca.crt': caCertificate };
  const present = store.get({ resource: 'configmaps', namespace, name: CERTIFICATE })?.decode();
  const certificates = { name: CERTIFICATE, annotations: { [NOTICE]: DESCRIPTION } };
  if (present === undefined) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: certificates, data };
    return create(parts, { plural: 'configmaps', namespace, object });
  }
  if (JSON.stringify(present.data) === JSON.stringify(data)) return;
  const place = { namespace, name: CERTIFICATE };
  await parts.registryOf('configmaps').change(place, (object) => ({ ...object, data }), parts.context());
}

type NewObject = { plural: string; namespace: string; object: ApiObject };

/** Creates an object. Ignores the error if the object already exists or its namespace is being deleted. */
async function create(parts: ControllerParts, { plural, namespace, object }: NewObject): Promise<void> {
  try {
    await parts.registryOf(plural).create(namespace, object, parts.context());
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 409].includes(error.status.code)) throw error;
  }
}

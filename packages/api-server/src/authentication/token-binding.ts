import { badRequest, conflict, notFound, type ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Binding, BoundObject } from './token-claims.ts';

const CORE = { group: '' };

/** The kinds of objects a token can be bound to. */
const RESOURCES = new Map([
  ['Pod', 'pods'],
  ['Secret', 'secrets'],
  ['Node', 'nodes'],
]);

/** Returns the binding of a service account token, including the object named by `reference` (BoundObjectReference), if any. */
export function bindingOf(
  store: ObjectStore,
  account: ApiObject,
  reference: Record<string, unknown> | undefined,
): Binding {
  const { namespace = '' } = account.metadata;
  const binding = { namespace, serviceaccount: boundObject(account) };
  if (reference === undefined) return binding;
  const object = referredObject(store, reference, namespace);
  switch (reference.kind) {
    case 'Pod':
      return { ...binding, ...podBinding(store, object, account) };
    case 'Secret':
      return { ...binding, secret: boundObject(object) };
    default:
      return { ...binding, node: boundObject(object) };
  }
}

function referredObject(store: ObjectStore, reference: Record<string, unknown>, namespace: string): ApiObject {
  const { apiVersion, kind, name, uid } = textFields(reference);
  const plural = apiVersion === '' || !apiVersion.includes('/') ? RESOURCES.get(kind) : undefined;
  if (plural === undefined)
    throw badRequest(
      `cannot bind token to object of type ${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`,
    );
  const object = store.get({ resource: plural, namespace: plural === 'nodes' ? '' : namespace, name })?.decode();
  if (object === undefined) throw notFound({ ...CORE, plural }, name);
  if (uid !== '' && uid !== object.metadata.uid)
    throw conflict(
      { ...CORE, plural: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  return object;
}

function podBinding(store: ObjectStore, pod: ApiObject, account: ApiObject): Pick<Binding, 'pod' | 'node'> {
  const { serviceAccountName, nodeName } = pod.spec as { serviceAccountName?: string; nodeName?: string };
  const { name = '' } = account.metadata;
  if (serviceAccountName !== name)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`,
    );
  if (!nodeName) return { pod: boundObject(pod) };
  const node = store.get({ resource: 'nodes', namespace: '', name: nodeName })?.decode();
  return { pod: boundObject(pod), node: node === undefined ? { name: nodeName } : boundObject(node) };
}

const boundObject = ({ metadata: { name = '', uid } }: ApiObject): BoundObject => ({
  name,
  ...(uid === undefined ? {} : { uid }),
});

function textFields(reference: Record<string, unknown>) {
  const text = (field: string) => (typeof reference[field] === 'string' ? reference[field] : '');
  return { apiVersion: text('apiVersion'), kind: text('kind'), name: text('name'), uid: text('uid') };
}

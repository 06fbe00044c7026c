/** The Service `kubernetes`, which pods use to find the API, and its endpoints. */
import { isIPv6 } from 'node:net';
import type { StoreEvent } from '@podwright/api-machinery';
import { type ApiObject, isSameValue, valueAt } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';

export type KubernetesService = {
  clusterIp: string;
  /**
   * The address and port for the Service's endpoint. If pods cannot reach the server, either `address` or the entire endpoint is undefined.
   */
  endpoint: { address: string | undefined; port: number } | undefined;
};

type Parts = ControllerParts & { service: KubernetesService };

const PLACE = { namespace: 'default', name: 'kubernetes' };
const KEY = `${PLACE.namespace}/${PLACE.name}`;
const SLICES = 'endpointslices.discovery.k8s.io';
const LABELS = { component: 'apiserver', provider: 'kubernetes' };
/** Paths of the immutable fields of Services and EndpointSlices. Changing one requires recreating the object. */
const IMMUTABLE = [['spec', 'clusterIP'], ['addressType']];
/** The port of the Service `kubernetes`, where pods reach the API, as in upstream. */
export const SECURE_PORT = 443;

/**
 * Creates the Service `kubernetes` and its endpoints, and restores them if they are deleted or changed. If there is no address that pods
 * can reach, there are no endpoints, and those of an earlier start are deleted. (Upstream publishes the default interface's address even if
 * it only listens on loopback.) If the server listens on the cluster IP itself, that is also the endpoint's address.
 */
export async function keepKubernetesService(parts: Parts): Promise<void> {
  const { address, port = SECURE_PORT } = parts.service.endpoint ?? {};
  const keep = (resource: string, object: ApiObject) => {
    const listed = () => ensure(parts, resource, object);
    const changed = async (event: StoreEvent) => {
      if (event.object.key === KEY) await listed();
    };
    return followResource(resource, { listed, changed }, parts);
  };
  const remove = (resource: string) =>
    followResource(resource, { listed: () => removeObsolete(parts, resource), changed: () => undefined }, parts);
  await Promise.all([
    keep('services', serviceOf(parts.service.clusterIp, port)),
    address === undefined ? remove('endpoints') : keep('endpoints', endpointsOf(address, port)),
    address === undefined ? remove(SLICES) : keep(SLICES, sliceOf(address, port)),
  ]);
}

async function removeObsolete({ store, registryOf, context }: Parts, resource: string): Promise<void> {
  if (store.get({ resource, ...PLACE }) === undefined) return;
  await registryOf(resource).delete(PLACE, {}, context()).catch(ignoreOvertaken);
}

/**
 * Creates the Service or EndpointSlice, or restores fields with different values. If an immutable field differs, for example after a change
 * of the Service range, recreates the object.
 */
async function ensure(parts: Parts, resource: string, expected: ApiObject): Promise<void> {
  const { store, registryOf, context } = parts;
  const { metadata, kind: _, apiVersion: __, ...fields } = expected;
  const present = store.get({ resource, ...PLACE })?.decode();
  const registry = registryOf(resource);
  if (present === undefined) return void (await registry.create(PLACE.namespace, expected, context()));
  if (IMMUTABLE.some((path) => !isSameValue(valueAt(present, ...path), valueAt(expected, ...path)))) {
    await removeObsolete(parts, resource);
    return void (await registry.create(PLACE.namespace, expected, context()));
  }
  if (Object.entries(fields).every(([name, value]) => includes(present[name], value))) return;
  await registry.change(PLACE, (object) => ({ ...object, ...withPresent(fields, object) }), context());
}

/** Whether a value contains all expected fields. Other fields are ignored, because the server adds defaults. */
function includes(value: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return isSameValue(value, expected);
  if (typeof value !== 'object' || value === null) return false;
  const isList = Array.isArray(expected);
  if (isList && (value as unknown[]).length !== expected.length) return false;
  return Object.entries(expected).every(([name, one]) => includes((value as Record<string, unknown>)[name], one));
}

/** Returns the fields to write, with the Service's spec completed by the fields that the server has assigned to it. */
const withPresent = (fields: Record<string, unknown>, object: ApiObject): Record<string, unknown> =>
  'spec' in fields ? { ...fields, spec: { ...(object.spec as object), ...(fields.spec as object) } } : fields;

const serviceOf = (clusterIp: string, targetPort: number): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: PLACE.name, labels: LABELS },
  spec: {
    clusterIP: clusterIp,
    ports: [{ name: 'https', port: SECURE_PORT, protocol: 'TCP', targetPort }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
});

const endpointsOf = (ip: string, port: number): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: PLACE.name, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
  subsets: [{ addresses: [{ ip }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
});

const sliceOf = (address: string, port: number): ApiObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: PLACE.name, labels: { 'kubernetes.io/service-name': PLACE.name } },
  addressType: isIPv6(address) ? 'IPv6' : 'IPv4',
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [{ name: 'https', port, protocol: 'TCP' }],
});

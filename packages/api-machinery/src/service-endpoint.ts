/** Finds an endpoint of a Service for connections made by the server itself (apiserver, util/proxy, ResolveEndpoint). */
import { type ApiObject, listAt, numberAt, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';
import { notFound } from './status/api-error.ts';
import type { ObjectStore } from './store/object-store.ts';

/** The Service does not exist, or has no such port or no ready endpoint. */
export class NoEndpoint extends Error {}

/** The namespace and name of a Service. */
export type ServicePlace = { namespace: string; name: string };

/** `host`: an IP address, or the external name of a Service of type ExternalName. */
export type ServiceEndpoint = { host: string; port: number; isExternal: boolean };

const ENDPOINT_SLICES = 'endpointslices.discovery.k8s.io';

/**
 * Returns the address and port of a ready endpoint of the Service, preferably in its first IP family. The cluster IP is not used, because
 * it needs a service proxy on this node. Throws `NoEndpoint`.
 */
export function serviceEndpoint(store: ObjectStore, place: ServicePlace, servicePort: number): ServiceEndpoint {
  const service = store.get({ resource: 'services', ...place })?.decode();
  if (service === undefined)
    throw new NoEndpoint(
      notFound({ group: '', plural: 'services' }, place.name).message.replace('services', 'service'),
    );
  const type = textAt(service, 'spec', 'type') || 'ClusterIP';
  if (type === 'ExternalName')
    return { host: textAt(service, 'spec', 'externalName'), port: servicePort, isExternal: true };
  const port = objectsAt(service, 'spec', 'ports').find((one) => one.port === servicePort);
  const shown = JSON.stringify(place.name);
  if (port === undefined) throw new NoEndpoint(`no service port ${servicePort} found for service ${shown}`);
  const slices = endpointSlicesOf(store, place);
  const family = textAt({ first: listAt(service, 'spec', 'ipFamilies')[0] }, 'first');
  const preferred = slices.toSorted((one, other) => rank(one, family) - rank(other, family));
  for (const slice of preferred) {
    const found = readyEndpoint(slice, textAt(port, 'name'));
    if (found !== undefined) return { ...found, isExternal: false };
  }
  throw new NoEndpoint(`no endpoints available for service ${shown}`);
}

/** Returns a sort key that puts EndpointSlices of the preferred IP family first. */
const rank = (slice: ApiObject, family: string): number => (slice.addressType === family ? 0 : 1);

/** Returns the EndpointSlices of a Service. */
export function endpointSlicesOf(store: ObjectStore, { namespace, name }: ServicePlace): ApiObject[] {
  const slices = store.list(ENDPOINT_SLICES, { namespace }).objects;
  return slices
    .map((one) => one.decode())
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
}

/** Returns one of the ready endpoints of a slice, chosen at random; `undefined` if it has none with the port. */
function readyEndpoint(slice: ApiObject, portName: string): { host: string; port: number } | undefined {
  const port = objectsAt(slice, 'ports').find(
    (one) => textAt(one, 'name') === portName && numberAt(one, 'port') !== undefined,
  );
  const ready = objectsAt(slice, 'endpoints').filter((one) => objectAt(one, 'conditions')?.ready !== false);
  const endpoint = ready[Math.floor(Math.random() * ready.length)];
  const host = endpoint && listAt(endpoint, 'addresses')[0];
  return port === undefined || typeof host !== 'string' ? undefined : { host, port: numberAt(port, 'port')! };
}

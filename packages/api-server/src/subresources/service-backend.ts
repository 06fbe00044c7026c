import { notFound, type ObjectStore } from '@podwright/api-machinery';
import { type JsonObject, numberAt, objectsAt, textAt } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { networkBackend } from '../backends/network-backend.ts';
import { isProxyable } from '../backends/proxyable-address.ts';
import { type ProxyTarget, serviceUnavailable } from './proxy-target.ts';

type Place = { store: ObjectStore; namespace: string };

/**
 * Returns an endpoint of a service, given the number or name of the service's port. Ignores endpoints whose address is not that of a pod in
 * the service's namespace, so that users who can write Endpoints cannot reach other addresses through this server.
 */
export function serviceBackend(store: ObjectStore, namespace: string, target: ProxyTarget): Backend {
  const { id, scheme, name } = target;
  const place = { store, namespace };
  const portName = portNameOf(place, target);
  const endpoints = store.get({ resource: 'endpoints', namespace, name })?.decode();
  if (endpoints === undefined) throw notFound({ group: '', plural: 'endpoints' }, name);
  const subsets = objectsAt(endpoints, 'subsets');
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  const found = rotated(subsets).flatMap((subset) => addressesOf(place, subset, portName))[0];
  if (found === undefined) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`);
  return networkBackend({ scheme: scheme || 'http', ...found });
}

/**
 * Returns the name of the requested service port, because endpoints refer to ports by name. A number is looked up in the service's ports.
 */
function portNameOf({ store, namespace }: Place, { name, port }: ProxyTarget): string {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const service = store.get({ resource: 'services', namespace, name })?.decode();
  if (service === undefined) throw notFound({ group: '', plural: 'services' }, name);
  const found = objectsAt(service, 'spec', 'ports').find((one) => one.port === Number(port));
  if (found === undefined)
    throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
  return textAt(found, 'name');
}

function addressesOf(place: Place, subset: JsonObject, portName: string): { host: string; port: number }[] {
  const port = objectsAt(subset, 'ports').find((one) => textAt(one, 'name') === portName);
  const number = numberAt(port, 'port');
  if (number === undefined) return [];
  const addresses = rotated(objectsAt(subset, 'addresses'));
  const found = addresses.find((address) => isOfPod(place, address));
  return found === undefined ? [] : [{ host: textAt(found, 'ip'), port: number }];
}

function isOfPod({ store, namespace }: Place, address: JsonObject): boolean {
  const ip = textAt(address, 'ip');
  if (textAt(address, 'targetRef', 'namespace') !== namespace || !isProxyable(ip)) return false;
  const pod = store.get({ resource: 'pods', namespace, name: textAt(address, 'targetRef', 'name') })?.decode();
  return objectsAt(pod, 'status', 'podIPs').some((one) => textAt(one, 'ip') === ip);
}

/** Rotates the list to start at a random element, to spread requests over the endpoints. */
function rotated<T>(list: readonly T[]): T[] {
  const at = Math.floor(Math.random() * list.length);
  return [...list.slice(at), ...list.slice(0, at)];
}

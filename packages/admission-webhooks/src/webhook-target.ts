/** Finds the address of a webhook, which has a URL or a Service (apiserver, util/proxy, ResolveEndpoint). */
import { notFound, type ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, type JsonObject, listAt, numberAt, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';
import { CallError } from './call-error.ts';

export type WebhookTarget = {
  /** The host and port as in the URL, for the header `Host` and for messages. */
  authority: string;
  /** The name that the certificate must have. */
  serverName: string;
  /** The name or address to connect to. */
  host: string;
  port: number;
  path: string;
  /** The trusted certificate authorities, in PEM. '': those that Node.js trusts. */
  authorities: string;
};

const HTTPS_PORT = 443;

/** Returns where to send reviews for a webhook. Throws `CallError` if its Service has no ready endpoint. */
export function webhookTarget(config: JsonObject, store: ObjectStore): WebhookTarget {
  const client = objectAt(config, 'clientConfig') ?? {};
  const authorities = Buffer.from(textAt(client, 'caBundle'), 'base64').toString();
  const service = objectAt(client, 'service');
  return service === undefined ? urlTarget(client, authorities) : serviceTarget(service, authorities, store);
}

function urlTarget(client: JsonObject, authorities: string): WebhookTarget {
  const url = parsed(textAt(client, 'url'));
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  return { authority: url.host, serverName: host, host, port, path: url.pathname, authorities };
}

function parsed(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new CallError(`could not get REST client: Unparsable URL: ${text}`, 500);
  return url;
}

function serviceTarget(reference: JsonObject, authorities: string, store: ObjectStore): WebhookTarget {
  const [namespace, name] = [textAt(reference, 'namespace'), textAt(reference, 'name')];
  const servicePort = numberAt(reference, 'port') ?? HTTPS_PORT;
  const serverName = `${name}.${namespace}.svc`;
  const given = textAt(reference, 'path');
  const path = given.startsWith('/') ? given : `/${given}`;
  const authority = `${serverName}:${servicePort}`;
  try {
    return { authority, serverName, ...endpointOf(store, { namespace, name }, servicePort), path, authorities };
  } catch (error) {
    if (!(error instanceof NoEndpoint)) throw error;
    throw new CallError(`failed to call webhook: Post "https://${authority}${path}": ${error.message}`);
  }
}

/** The Service does not exist, or has no such port or no ready endpoint. */
class NoEndpoint extends Error {}

/** The namespace and name of a Service. */
type Place = { namespace: string; name: string };

/**
 * Returns the address and port of a ready endpoint of the Service, of its first IP family if there is one. The cluster IP is not used,
 * because it needs a service proxy on this node. Throws `NoEndpoint`.
 */
function endpointOf(store: ObjectStore, place: Place, servicePort: number): { host: string; port: number } {
  const service = store.get({ resource: 'services', ...place })?.decode();
  if (service === undefined)
    throw new NoEndpoint(
      notFound({ group: '', plural: 'services' }, place.name).message.replace('services', 'service'),
    );
  const type = textAt(service, 'spec', 'type') || 'ClusterIP';
  if (type === 'ExternalName') return { host: textAt(service, 'spec', 'externalName'), port: servicePort };
  const port = objectsAt(service, 'spec', 'ports').find((one) => one.port === servicePort);
  const shown = JSON.stringify(place.name);
  if (port === undefined) throw new NoEndpoint(`no service port ${servicePort} found for service ${shown}`);
  const slices = slicesOf(store, place);
  const family = textAt({ first: listAt(service, 'spec', 'ipFamilies')[0] }, 'first');
  const preferred = slices.toSorted((one, other) => rank(one, family) - rank(other, family));
  for (const slice of preferred) {
    const found = readyEndpoint(slice, textAt(port, 'name'));
    if (found !== undefined) return found;
  }
  throw new NoEndpoint(`no endpoints available for service ${shown}`);
}

/** Sorts slices of the preferred IP family first. */
const rank = (slice: ApiObject, family: string): number => (slice.addressType === family ? 0 : 1);

function slicesOf(store: ObjectStore, { namespace, name }: Place): ApiObject[] {
  const slices = store.list('endpointslices.discovery.k8s.io', { namespace }).objects;
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

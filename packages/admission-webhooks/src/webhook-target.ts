/** Resolves the address of a webhook, which has either a URL or a Service (apiserver, util/proxy, ResolveEndpoint). */
import { NoEndpoint, type ObjectStore, serviceEndpoint } from '@podwright/api-machinery';
import { type JsonObject, numberAt, objectAt, textAt } from '@podwright/kube-kinds';
import { CallError } from './call-error.ts';

export type WebhookTarget = {
  /** The host and port as in the URL, for the `Host` header and for messages. */
  authority: string;
  /** The host name that the webhook's certificate must be valid for. */
  serverName: string;
  /** The host name or IP address to connect to. */
  host: string;
  port: number;
  path: string;
  /** The trusted certificate authorities in PEM; '' to use Node.js's defaults. */
  authorities: string;
};

const HTTPS_PORT = 443;

/** Returns where to send a webhook's reviews. Throws `CallError` if its Service has no ready endpoint. */
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
    const { host, port } = serviceEndpoint(store, { namespace, name }, servicePort);
    return { authority, serverName, host, port, path, authorities };
  } catch (error) {
    if (!(error instanceof NoEndpoint)) throw error;
    throw new CallError(`failed to call webhook: Post "https://${authority}${path}": ${error.message}`);
  }
}

/** Connects to extension API servers. */
import { Agent } from 'node:https';
import { type ObjectStore, serviceEndpoint } from '@podwright/api-machinery';
import { gatherBytes, withTimeout } from '@podwright/base';
import type { UserInfo } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { answerTo } from '../backends/backend-response.ts';
import { type NetworkAddress, networkBackend, secureOptions } from '../backends/network-backend.ts';
import { proxyableAddress } from '../backends/proxyable-address.ts';
import type { KeyPair } from '../certificates/certificate-authority.ts';
import type { Registration } from './registration.ts';
import { remoteUserHeaders } from './remote-user.ts';

export type ExtensionParts = {
  store: ObjectStore;
  /** Returns the certificate that this server presents to extension API servers. */
  clientPair: () => KeyPair;
  /** Connection pools by APIService name. */
  agents: Map<string, ExtensionAgent>;
};

/** A connection pool, and the target for which it was created. */
export type ExtensionAgent = { target: NetworkAddress; agent: Agent };

/**
 * Maximum number of idle connections per extension API server. A TLS handshake takes both servers longer than a request, and upstream sends
 * all requests on one HTTP/2 connection.
 */
const MAX_IDLE_CONNECTIONS = 16;
/** How long idle connections stay open: less than the 90 seconds after which servers built on upstream's library close them. */
const MAX_IDLE_MS = 30_000;
const MAX_AGENTS = 200;

const TLS_FIELDS = ['cert', 'key', 'ca', 'isVerified'] as const;

/** Go's message for an HTTP request that has timed out. */
const LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';

/**
 * Returns a ready endpoint of the registered Service. Its certificate must be valid for the Service's name. Throws `NoEndpoint`, or an
 * `ApiError` for a Service of type ExternalName with a host on this machine.
 */
export async function extensionBackend(
  registration: Registration,
  { store, clientPair, agents }: ExtensionParts,
): Promise<Backend> {
  const { service, authorities, skipsVerification } = registration;
  const { namespace, name } = service;
  const { host, port, isExternal } = serviceEndpoint(store, { namespace, name }, service.port);
  const address = isExternal ? await proxyableAddress(host) : host;
  const { certificate: cert, key } = clientPair();
  const tls = { cert, key, isVerified: !skipsVerification, ...(authorities !== '' && { ca: authorities }) };
  const target = { scheme: 'https', host: `${name}.${namespace}.svc`, port, address, tls } as const;
  const agent = agentOf(registration.name, target, agents);
  const backend = networkBackend({ ...target, agent });
  return { ...backend, authority: `${address.includes(':') ? `[${address}]` : address}:${port}` };
}

/** Returns the connection pool for an extension API server. The pool is replaced if the Service or its certificates change. */
function agentOf(name: string, target: NetworkAddress, agents: ExtensionParts['agents']): Agent {
  const known = agents.get(name);
  if (known !== undefined && isSameServer(known.target, target)) return known.agent;
  const bounds = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: MAX_IDLE_MS };
  const agent = new Agent({ ...bounds, ...secureOptions(target) });
  agents.delete(name);
  agents.set(name, { target, agent });
  const [oldest] = agents.keys();
  if (agents.size > MAX_AGENTS) agents.delete(oldest!); // its idle connections close in time
  return agent;
}

/** Whether connections to both targets are made for the same host name with the same TLS settings. */
const isSameServer = ({ host, tls = {} }: NetworkAddress, { host: other, tls: others = {} }: NetworkAddress): boolean =>
  host === other && TLS_FIELDS.every((field) => tls[field] === others[field]);

/** A request that this server itself sends to an extension API server. */
export type ExtensionCall = {
  /** HTTP method of the request, which has no body. Default: GET. */
  method?: 'GET' | 'DELETE';
  path: string;
  user: UserInfo;
  headers?: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Maximum size of the response body. Longer ones are rejected. */
  maxBytes: number;
  signal: AbortSignal;
};

export type ExtensionAnswer = { status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer };

/** Sends a request. Does not follow redirects. Rejects with the connection's error, or if the response takes too long. */
export async function askExtension(
  backend: Backend,
  { method = 'GET', path, user, headers, timeoutMs, maxBytes, signal: given }: ExtensionCall,
): Promise<ExtensionAnswer> {
  using signal = withTimeout(given, timeoutMs, 'wait for an extension API server');
  const sent = { host: backend.authority, 'user-agent': 'kube-apiserver', ...headers, ...remoteUserHeaders(user) };
  const outgoing = backend.request({ method, path, headers: sent });
  outgoing.end();
  try {
    const { response, upgraded } = await answerTo(outgoing, signal);
    if (upgraded !== undefined) throw new Error('the server switched protocols without a request');
    signal.addEventListener('abort', () => response.destroy(signal.reason), { once: true });
    const tooLong = () => new Error(`the response is larger than ${maxBytes} bytes`);
    const body = await gatherBytes(response, maxBytes, tooLong);
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  } catch (error) {
    throw signal.aborted && !given.aborted ? new Error(LATE) : error;
  } finally {
    outgoing.destroy();
  }
}

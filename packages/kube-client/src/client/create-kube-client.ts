import { PodwrightError } from '@podwright/base';
import type { KubeClient } from '../kube-client.ts';
import type { TlsOptions } from '../transport/http-exchange.ts';
import { Transport, type TransportOptions } from '../transport/transport.ts';
import { ApiClient } from './api-client.ts';
import { type Authorization, Caller } from './caller.ts';
import { HttpCalls } from './http-calls.ts';
import { USER_AGENT } from './user-agent.ts';

/** The API server and the client's credentials. The functions are called for each new connection or request. */
export type ClusterAccess = {
  /** `https://HOST[:PORT][/PATH]`. `http:` is insecure, does not support client certificates, and is meant for tests. */
  server: string;
  tls?: TlsOptions | (() => TlsOptions | Promise<TlsOptions>);
  authorization?: Authorization;
  /**
   * Receives a function that closes the client's connections; call it when the TLS options have changed. The client disposes of the result
   * when it is closed.
   */
  follow?(reconnect: () => void): Disposable;
};

export type KubeClientOptions = ClusterAccess & {
  /** How long a connection may be silent before it is pinged, and how long to wait for the ping response. Default: upstream's values. */
  pings?: TransportOptions['pings'];
  /** Backoff for connections that the server closes without a response. Default: 1 to 5 seconds. */
  pauses?: TransportOptions['pauses'];
};

/** Creates a client with its own connections, which are established on the first call. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { address, prefix } = parseServer(options.server);
  const { tls = {}, pings, pauses, authorization = { header: () => undefined } } = options;
  const transport = new Transport({ address, tls: typeof tls === 'function' ? tls : () => tls, pings, pauses });
  const caller = new Caller({
    send: (request, signal) => transport.send(request, signal),
    prefix,
    userAgent: USER_AGENT,
    authorization,
  });
  const following = options.follow?.(() => transport.reconnect());
  return new ApiClient(new HttpCalls(caller), {
    reconnect: () => transport.reconnect(),
    close: () => {
      following?.[Symbol.dispose]();
      transport.close();
    },
  });
}

/** Returns a bearer token authorization for `ClusterAccess`. */
export function bearerToken(token: string): Authorization {
  return { header: () => `Bearer ${token}` };
}

/** Splits a server's URL. Throws `invalid_argument` if it is not an http or https URL. */
export function parseServer(server: string): { address: TransportOptions['address']; prefix: string } {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '')
    throw new PodwrightError(
      'invalid_argument',
      `server ${JSON.stringify(server)}: not a URL such as https://HOST:6443`,
    );
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new PodwrightError(
      'invalid_argument',
      `server ${url.origin}: its URL may have a path, but no credentials, query or fragment`,
    );
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return {
    address: { protocol: url.protocol, host: url.hostname, port },
    prefix: url.pathname.replace(/\/+$/, ''),
  };
}

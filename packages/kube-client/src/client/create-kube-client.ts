import { PodwrightError, VERSION } from '@podwright/base';
import type { KubeClient } from '../kube-client.ts';
import type { TlsOptions } from '../transport/http-exchange.ts';
import { Transport, type TransportOptions } from '../transport/transport.ts';
import { ApiClient } from './api-client.ts';
import { type Authorization, Caller } from './caller.ts';

/** The server and the client's credentials. The client calls the functions for each new connection or request. */
export type ClusterAccess = {
  /** `https://HOST[:PORT][/PATH]`; `http:` is insecure, has no client certificates, and is for tests. */
  server: string;
  tls?: TlsOptions | (() => TlsOptions | Promise<TlsOptions>);
  authorization?: Authorization;
  /**
   * The client passes a function that closes its connections; the implementation calls it when the TLS options have changed. The
   * client disposes of the result when it is closed.
   */
  follow?(reconnect: () => void): Disposable;
};

export type KubeClientOptions = ClusterAccess & {
  /** Idle time before a connection is pinged, and the time to answer. Upstream's by default. */
  pings?: TransportOptions['pings'];
  /** Backoff for connections that the server closes without a response. Upstream's by default. */
  pauses?: TransportOptions['pauses'];
};

/** Creates a client with its own connections. The first call connects. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { address, prefix } = parseServer(options.server);
  const { tls = {}, pings, pauses, authorization = { header: () => undefined } } = options;
  const transport = new Transport({ address, tls: typeof tls === 'function' ? tls : () => tls, pings, pauses });
  const caller = new Caller({
    send: (request, signal) => transport.send(request, signal),
    prefix,
    userAgent: `podwright/${VERSION} (linux/${process.arch === 'x64' ? 'amd64' : process.arch})`,
    authorization,
  });
  const following = options.follow?.(() => transport.reconnect());
  return new ApiClient(caller, {
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

/** Splits a server's URL. Throws `invalid_argument` for anything but an http or https URL. */
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

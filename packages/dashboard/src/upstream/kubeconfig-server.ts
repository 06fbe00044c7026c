import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { isIP } from 'node:net';
import { clientContext, ignoreFailure, nodeLookups } from '@podwright/base';
import type { Kubeconfig, TlsOptions } from '@podwright/kube-client';
import { MAX_SHARED_CONNECTIONS } from '../limits.ts';
import type { ApiServer } from './api-server.ts';

/** Returns the API server of a kubeconfig. Certificates and tokens are read again when they change. */
export function kubeconfigServer(kubeconfig: Kubeconfig): ApiServer {
  const agents = new Agents(kubeconfig);
  const { hostname, port, protocol, pathname } = new URL(kubeconfig.server);
  const secure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const address = { host, port: Number(port) || (secure ? 443 : 80), lookup: nodeLookups.lookup };
  return {
    name: kubeconfig.server,
    namespace: kubeconfig.namespace,
    prefix: pathname.replace(/\/+$/, ''),
    isNode: false,
    authorization: kubeconfig.authorization,
    connection: async (dedicated) => ({
      secure,
      options: {
        ...address,
        agent: secure ? (await agents.open(host))[dedicated ? 'streams' : 'calls'] : agents.plain,
      },
    }),
    close: () => agents.close(),
  };
}

/** Agents of node:https. `calls` reuses connections, while `streams` opens a new one for each request. */
type TlsAgents = { calls: Agent; streams: Agent };

/** The agents for a kubeconfig's server, which are replaced when the certificates change. */
class Agents {
  readonly plain = new HttpAgent({ keepAlive: false });
  readonly #kubeconfig: Kubeconfig;
  readonly #following: Disposable;
  #agents: Promise<TlsAgents> | undefined;

  constructor(kubeconfig: Kubeconfig) {
    this.#kubeconfig = kubeconfig;
    this.#following = kubeconfig.follow(() => this.#renew());
  }

  open(host: string): Promise<TlsAgents> {
    this.#agents ??= this.#make(host).catch((error: unknown) => {
      this.#agents = undefined;
      throw error;
    });
    return this.#agents;
  }

  close(): void {
    this.#following[Symbol.dispose]();
    this.plain.destroy();
    this.#renew();
  }

  async #make(host: string): Promise<TlsAgents> {
    const options = tlsOptions(await this.#kubeconfig.tls(), host);
    return {
      calls: new Agent({ ...options, keepAlive: true, maxSockets: MAX_SHARED_CONNECTIONS }),
      streams: new Agent({ ...options, keepAlive: false }),
    };
  }

  /** Discards the agents, so that the next request creates new ones. Streams continue on their existing connections. */
  #renew(): void {
    const before = this.#agents;
    this.#agents = undefined;
    if (before === undefined) return;
    ignoreFailure(
      before.then(({ calls }) => calls.destroy()),
      'there are no connections to close, and the request for which the agents were made reports the error',
    );
  }
}

function tlsOptions(tls: TlsOptions, host: string) {
  const name = tls.serverName ?? host;
  const { ca, certificate, key } = tls;
  return {
    secureContext: clientContext('server', {
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined ? {} : { cert: certificate, key }),
      minVersion: 'TLSv1.2',
    }),
    servername: isIP(name) === 0 ? name : '',
    rejectUnauthorized: tls.insecureSkipTlsVerify !== true,
  };
}

import type { Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { isErrno, type Logger, PodwrightError, Undo } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import {
  ENDPOINT_SLICES,
  type InformerChange,
  Informers,
  type KubeClient,
  NAMESPACES,
  SERVICES,
} from '@podwright/kube-client';
import { Forwarder } from './forward/forwarder.ts';
import { ClientNetworks } from './server/client-networks.ts';
import { Responder } from './server/responder.ts';
import { TcpServer } from './server/tcp-server.ts';
import { Turns } from './server/turns.ts';
import { serveUdp } from './server/udp-server.ts';
import { isName } from './wire/names.ts';
import type { DnsEndpointSlice, DnsService } from './zone/api-objects.ts';
import { ClusterIndex } from './zone/cluster-index.ts';

export type DnsOptions = {
  client: KubeClient;
  /** The cluster's DNS address, or one for each address family. They must be assigned to the host. */
  address: string | readonly string[];
  /** The port to listen on. Default: 53. 0 selects any free port. */
  port?: number;
  /** The cluster's domain, such as `cluster.local`. */
  domain: string;
  /** Path of a resolv.conf(5) with the resolvers for all other names. */
  upstream: string;
  /** Networks and addresses of the clients, usually those of the pods and the host. Other clients are refused. */
  clients: readonly string[];
  logger: Logger;
  /** Stops the server. */
  signal: AbortSignal;
};

export type DnsServer = {
  readonly port: number;
  /** Resolves once all objects have been read. Until then, unknown names are answered with SERVFAIL. */
  readonly synced: Promise<void>;
  close(): Promise<void>;
};

const LOOPBACK = ['127.0.0.0/8', '::1'];
const DEFAULT_PORT = 53;
/** Maximum number of attempts to find a port that is free for both UDP and TCP. */
const PORT_ATTEMPTS = 10;

/**
 * Starts the cluster's DNS server. Names of services, endpoints and pods are answered from the API server's objects, other names by the
 * node's resolvers. Throws `invalid_argument` for invalid options, and `failed_precondition` if it cannot listen.
 */
export async function startDns(options: DnsOptions): Promise<DnsServer> {
  const { client, domain, upstream, clients, logger, signal } = options;
  const addresses = typeof options.address === 'string' ? [options.address] : options.address;
  checkOptions(domain, addresses);
  const records = new ClusterIndex({ domain, serverAddresses: addresses });
  const own = addresses.map((address) => ({ address, port: options.port ?? DEFAULT_PORT }));
  const forwarder = new Forwarder({ path: upstream, own, logger });
  const networks = new ClientNetworks([...LOOPBACK, ...addresses, ...clients]);
  const responder = new Responder({ records, forwarder, clients: networks, logger });
  const undo = new Undo();
  try {
    const port = await listen({ addresses, port: options.port ?? DEFAULT_PORT, responder, logger }, undo);
    undo.add('end forwarded queries', () => forwarder.close());
    await forwarder.open();
    const synced = followObjects(client, records, undo);
    let closing: Promise<unknown> | undefined;
    const close = async () => {
      closing ??= undo.run();
      await closing;
    };
    signal.addEventListener('abort', () => void close(), { once: true });
    if (signal.aborted) await close();
    return { port, synced, close };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

function checkOptions(domain: string, addresses: readonly string[]): void {
  const wrong = addresses.find((address) => isIP(address) === 0);
  if (wrong !== undefined || addresses.length === 0)
    throw new PodwrightError('invalid_argument', `"${wrong ?? ''}" is not an address for the DNS server`);
  if (domain === '' || !isName(domain))
    throw new PodwrightError('invalid_argument', `"${domain}" is not a domain for a cluster`);
}

type ListenOptions = { addresses: readonly string[]; port: number; responder: Responder; logger: Logger };

/** Listens on the same UDP and TCP port on all addresses, and returns the port. */
async function listen(options: ListenOptions, undo: Undo): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const tried = new Undo();
    try {
      const port = await listenOnce(options, tried);
      undo.add('stop listening for DNS', async () => void (await tried.run()));
      return port;
    } catch (error) {
      await tried.run();
      const isTaken = error instanceof Error && isErrno(error.cause, 'EADDRINUSE');
      if (options.port !== 0 || !isTaken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function listenOnce({ addresses, port: wanted, responder, logger }: ListenOptions, undo: Undo): Promise<number> {
  let port = wanted;
  const turns = new Turns();
  for (const address of addresses) {
    const udp = await serveUdp({ address, port }, { responder, turns, logger });
    undo.add('close the UDP socket', () => closeUdp(udp));
    port = udp.address().port;
    const tcp = await TcpServer.listen({ address, port }, { responder, turns });
    undo.add('close the TCP server', () => tcp[Symbol.asyncDispose]());
  }
  return port;
}

const closeUdp = (socket: Socket): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));

/** Keeps the records in sync with the API server's objects. Resolves once all objects have been read or the server has been closed. */
function followObjects(client: KubeClient, records: ClusterIndex, undo: Undo): Promise<void> {
  const informers = new Informers(client);
  const follow = <T extends KubeObject>(set: (object: T) => void, remove: (object: T) => void) => ({
    onChange: ({ type, object }: InformerChange<T>) => (type === 'DELETED' ? remove(object) : set(object)),
  });
  const started = [
    informers.start<KubeObject>({
      resource: NAMESPACES,
      ...follow(
        (object) => records.setNamespace(object),
        (object) => records.deleteNamespace(object),
      ),
    }),
    informers.start<DnsService>({
      resource: SERVICES,
      ...follow(
        (object) => records.setService(object),
        (object) => records.deleteService(object),
      ),
    }),
    informers.start<DnsEndpointSlice>({
      resource: ENDPOINT_SLICES,
      ...follow(
        (object) => records.setSlice(object),
        (object) => records.deleteSlice(object),
      ),
    }),
  ];
  for (const informer of started) undo.add('stop following objects', () => informer.stop());
  return Promise.all(started.map(({ synced }) => synced)).then(
    () => {
      records.isComplete = true;
    },
    () => undefined, // closed before
  );
}

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { Service } from '@podwright/kube-verbs';
import { PortForwarder } from '@podwright/streaming';
import { NodeClient } from '../client/node-client.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { streamPath } from './container-streams.ts';
import { type ForwardedPort, type ListenAddress, parseAddresses, parseForwardedPort } from './forwarded-ports.ts';
import { podsOfArgument } from './owned-pods.ts';

export type PortForwardOptions = { namespace: string; address?: string; podRunningTimeout?: number };

/** `podwright port-forward POD PORT…`: runs until Ctrl-C (exit code 0, as in kubectl). Fails when the pod terminates. */
export async function portForward(
  { config }: CommandContext,
  target: { pod: string; ports: string[] },
  options: PortForwardOptions,
): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const { namespace, podRunningTimeout: timeoutMs } = options;
  const choice = { namespace, purpose: 'streams', timeoutMs } as const;
  const found = await podsOfArgument(config.apiSocket, target.pod, choice);
  const [pod] = found.pods;
  const addresses = parseAddresses(options.address ?? 'localhost');
  const texts =
    found.owner?.kind === 'Service' ? await podPorts(target.ports, found.owner as Service, pod) : target.ports;
  const ports = texts.map((text) => parseForwardedPort(text, pod));
  const stopped = new AbortController();
  process.once('SIGINT', () => stopped.abort());
  using forwarding = new Forwarding(config.apiSocket, pod);
  await forwarding.begin(addresses, ports);
  const reason = await followPod(client, pod, { signal: stopped.signal, onMoved: () => forwarding.reconnect() });
  if (reason !== undefined) throw new PodwrightError('unavailable', `port-forward: ${reason}`);
}

async function podPorts(ports: string[], service: Service, pod: Pod): Promise<string[]> {
  const { podPortText } = await import('@podwright/kube-verbs');
  return ports.map((text) => podPortText(text, service, pod));
}

/** Waits for the pod to terminate and returns the reason, or `undefined` if the signal aborts. If the node stops, forwarding continues. */
async function followPod(
  client: NodeClient,
  pod: Pod,
  { signal, onMoved }: { signal: AbortSignal; onMoved: () => void },
): Promise<string | undefined> {
  const { name, uid } = pod.metadata;
  let address = pod.status?.podIP;
  let exists = false;
  try {
    for await (const change of client.watchPods(signal)) {
      if (change.type === 'listed' && !exists) return `pod ${name} was deleted`;
      if (change.type === 'listed' || change.object.metadata.uid !== uid) continue;
      exists = true;
      const { type, object } = change;
      const { phase, podIP } = object.status ?? {};
      const ended = phase === 'Succeeded' || phase === 'Failed';
      if (type === 'DELETED' || (ended && object.metadata.deletionTimestamp)) return `pod ${name} was deleted`;
      if (ended) return `pod ${name} has ended (${phase})`;
      if (podIP !== undefined && podIP !== address) onMoved();
      address = podIP ?? address;
    }
  } catch (error) {
    printError(`podwright: ${errorMessage(error)}`);
  }
  if (signal.aborted) return undefined;
  printError('podwright: the node has stopped; its containers may keep running, so forwarding continues');
  await once(signal, 'abort');
  return undefined;
}

/** The local listeners of `port-forward`, and its connection to the pod. */
class Forwarding implements Disposable {
  readonly #pod: Pod;
  readonly #socketPath: string;
  readonly #servers: Server[] = [];
  #forwarder: PortForwarder;

  constructor(socketPath: string, pod: Pod) {
    this.#socketPath = socketPath;
    this.#pod = pod;
    this.#forwarder = this.#makeForwarder();
  }

  /** Connects to the pod, listens on every address for every port, and prints what is being forwarded. */
  async begin(addresses: ListenAddress[], ports: ForwardedPort[]): Promise<void> {
    await this.#forwarder.connect();
    for (const { local, remote } of ports) {
      let port = local;
      for (const { address, optional } of addresses) {
        try {
          port = await this.#listen({ address, port }, remote);
          print(`Forwarding from ${address.includes(':') ? `[${address}]` : address}:${port} -> ${remote}`);
        } catch (error) {
          if (!optional) throw error;
        }
      }
    }
  }

  /** Reconnects after the pod's IP has changed; open connections are lost. */
  reconnect(): void {
    this.#forwarder.close();
    this.#forwarder = this.#makeForwarder();
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) server.close();
    this.#forwarder.close();
  }

  #makeForwarder(): PortForwarder {
    return new PortForwarder({
      socketPath: this.#socketPath,
      path: streamPath(this.#pod, new URLSearchParams(), 'portforward'),
    });
  }

  async #listen({ address, port }: { address: string; port: number }, remote: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => void this.#forward(socket, remote));
    try {
      await once(server.listen(port, address), 'listening');
    } catch (error) {
      throw listenError(error, { address, port, remote, pod: this.#pod.metadata.name });
    }
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  /** Forwards a local connection to a port of the pod. Failures are reported without affecting other connections. */
  async #forward(socket: Socket, port: number): Promise<void> {
    try {
      await this.#forwarder.forward(socket, port);
    } catch (error) {
      const message = errorMessage(error);
      const why = /ECONNREFUSED|connection refused/.test(message) ? 'no process listens there' : message;
      printError(`podwright: port ${port} of pod ${this.#pod.metadata.name}: ${why}`);
    }
  }
}

function listenError(
  error: unknown,
  { address, port, remote, pod }: { address: string; port: number; remote: number; pod: string },
): PodwrightError {
  const what = `port-forward: listen on ${address}, port ${port}`;
  if (isErrno(error, 'EADDRINUSE')) {
    const message = `${what}: the port is in use; 'podwright port-forward ${pod} :${remote}' picks a free one`;
    return new PodwrightError('already_exists', message);
  }
  if (isErrno(error, 'EADDRNOTAVAIL'))
    return new PodwrightError('invalid_argument', `${what}: this host has no such address`);
  return new PodwrightError('unavailable', `${what}: ${errorMessage(error)}`);
}

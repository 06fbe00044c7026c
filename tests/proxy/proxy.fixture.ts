import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { waitFor } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import type { ProxyOptions } from '@podwright/proxy';
import type { EndpointSlice, ServiceObject } from '../../packages/proxy/src/services/objects.ts';
import { ask, HostFixture, type HostPod, inNamespace } from '../network/host.fixture.ts';

type Kind = 'services' | 'slices' | 'nodes' | 'pods' | 'namespaces' | 'policies';
export type StoredObject = { resource: Kind; object: KubeObject };

/** Input for proxy.inside.ts. */
export type ProxySettings = {
  objects: StoredObject[];
  /** If `bridge` is set, network policies are enforced on it. */
  options: Omit<ProxyOptions, 'client' | 'nodeName' | 'logger'> & { bridge?: string };
};

export type ProxyCommand =
  | ({ do: 'put' } & StoredObject)
  | { do: 'remove'; resource: Kind; key: { namespace: string; name: string } }
  | { do: 'stop'; removeRules: boolean };

export const POD_CIDRS = ['10.241.41.0/24', 'fd00:241:41::/64'];
/** Poll interval and timeout for waiting until the rules take effect. */
const WAIT = () => ({ intervalMs: 20, signal: AbortSignal.timeout(20_000) });

/** Whether the tests run against upstream's kube-proxy. */
export const isUpstream = process.env.PODWRIGHT_KUBE_PROXY !== undefined;

/** The Node object of the simulated host. */
export const node: KubeObject & Record<string, unknown> = {
  metadata: { name: 'here' },
  spec: { podCIDRs: POD_CIDRS },
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.242.41.1' },
      { type: 'InternalIP', address: 'fd00:242:41::1' },
    ],
  },
};

/**
 * Returns a Service `default/NAME` with the cluster IPs 10.96.0.`last` and fd00:96::`last`, and with port 80 unless overridden by `spec`.
 */
export const service = (name: string, last: number, spec: ServiceObject['spec'] = {}): ServiceObject => ({
  metadata: { namespace: 'default', name },
  spec: {
    type: 'ClusterIP',
    clusterIP: `10.96.0.${last}`,
    clusterIPs: [`10.96.0.${last}`, `fd00:96::${last}`],
    ports: [{ port: 80, protocol: 'TCP' }],
    ...spec,
    ...{ ipFamilies: ['IPv4', 'IPv6'] },
  },
});

export type SliceOptions = { port?: number; protocol?: string; nodeName?: string; version?: 4 | 6 };

export function slice(name: string, pods: HostPod[], options: SliceOptions = {}): EndpointSlice {
  const { port = 80, protocol = 'TCP', nodeName = 'here', version = 4 } = options;
  return {
    metadata: {
      namespace: 'default',
      name: `${name}-${version}`,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: `IPv${version}`,
    endpoints: pods.map(({ ips }) => ({ addresses: [ips[version === 4 ? 0 : 1]!], nodeName })),
    ports: [{ name: '', port, protocol }],
  };
}

/**
 * A simulated host that has pods on a bridge and runs a proxy: ours or, if `PODWRIGHT_KUBE_PROXY` is set to its path, upstream's. Bridged
 * packets pass through the firewall, which upstream requires.
 */
export class ProxyFixture extends HostFixture {
  #proxy: ChildProcess | undefined;
  #answers: AsyncIterator<string> | undefined;

  constructor() {
    super();
    this.onHost('sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1');
    this.onHost('ip route add default via 10.242.41.2; ip -6 route add default via fd00:242:41::2');
    inNamespace(this.outside.netns, 'ip route add 10.96.0.0/16 via 10.242.41.1');
  }

  async start(objects: StoredObject[], options: ProxySettings['options'] = {}): Promise<void> {
    const settings: ProxySettings = { objects, options };
    const script = join(import.meta.dirname, 'proxy.inside.ts');
    const args = [`--net=${this.host}`, process.execPath, script, JSON.stringify(settings)];
    this.#proxy = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface({ input: this.#proxy.stdout! })[Symbol.asyncIterator]();
    await this.#answers.next();
  }

  /** Sends a command to the proxy. Returns the proxy's current problem, if any. */
  async command(command: ProxyCommand): Promise<string> {
    this.#proxy!.stdin!.write(`${JSON.stringify(command)}\n`);
    return (await this.#answers!.next()).value;
  }

  async put(resource: Kind, object: KubeObject): Promise<void> {
    await this.command({ do: 'put', resource, object });
  }

  async kill(): Promise<void> {
    this.#proxy!.kill(isUpstream ? 'SIGTERM' : 'SIGKILL');
    await once(this.#proxy!, 'exit');
  }

  /** Returns the nftables ruleset without the timeouts of client entries. */
  table(): string {
    return this.onHost('nft list ruleset').replace(/expires \w+/g, '');
  }

  override [Symbol.dispose](): void {
    this.#proxy?.kill('SIGKILL');
    super[Symbol.dispose]();
  }
}

/** Retries a call until it returns a value other than `undefined` without throwing; returns that value. */
export const eventually = <T>(call: () => Promise<T | undefined> | T | undefined): Promise<T> =>
  waitFor(async () => {
    try {
      return await call();
    } catch {
      return undefined;
    }
  }, WAIT());

/** Returns the outcome of a connection attempt: the response, or why there is none. */
export function outcome(netns: string, protocol: 'tcp' | 'udp', address: string, port: number): string {
  try {
    return ask(netns, protocol, address, port);
  } catch (error) {
    const text = String((error as { stderr?: string }).stderr ?? error);
    return /refused/i.test(text) ? 'refused' : /timed out/i.test(text) ? 'timed out' : text;
  }
}

/** Sends a UDP packet from a fixed source port; returns the response, or '' if there is none. */
export function askFrom(netns: string, sourcePort: number, address: string, port: number): string {
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const args = [`--net=${netns}`, 'socat', '-T1', '-t1', '-', `UDP:${target},sourceport=${sourcePort}`];
  try {
    return execFileSync('nsenter', args, { input: 'x', encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

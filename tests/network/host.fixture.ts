import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';
import type { PublishedPorts } from '../../packages/runtime/src/network/bridge/port-rules.ts';

/** A call of `HostRules`, or a script to run between calls. */
export type RulesStep =
  | { call: 'ensure' | 'recheck' | 'remove' | 'published' | 'warnings' | 'missing' }
  | { call: 'publish'; sandboxId: string; ports: PublishedPorts }
  | { call: 'withdraw'; sandboxId: string }
  | { call: 'setSubnets'; subnets: string }
  | { call: 'run'; script: string };

/** Input for host-rules.inside.ts. `killAt`: the process kills itself before its nth request to the kernel. */
export type RulesRun = {
  bridge: string;
  subnets: string;
  stateDir: string;
  filter: 'nft' | 'iptables';
  killAt?: number;
  steps: RulesStep[];
};

/** Output of host-rules.inside.ts: the result of each step, and the names of the programs that were started. */
export type RulesOutcome = { results: unknown[]; programs: string[] };

/** A pod for the firewall tests: a namespace with addresses from the bridge's subnets. */
export type HostPod = { name: string; netns: string; ips: string[] };

const bounded = (): AbortSignal => AbortSignal.timeout(20_000);

/**
 * A network namespace that simulates the host, with the bridge `pwt0`, its pods, and a neighbor that has no route to the pods. Tests'
 * changes to the firewall are confined to the namespace.
 */
export class HostFixture implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'podwright-host-'));
  readonly bridge = 'pwt0';
  readonly subnets = '10.241.41.0/24,fd00:241:41::/64';
  readonly filter: RulesRun['filter'];
  /** The host's own addresses, apart from the bridge's. */
  readonly addresses = { 4: '10.242.41.1', 6: 'fd00:242:41::1' };
  readonly host: string;
  readonly outside: HostPod;
  readonly #namespaces: string[] = [];
  readonly #servers: ChildProcess[] = [];
  #pods = 0;

  constructor(filter: RulesRun['filter'] = 'nft') {
    this.filter = filter;
    mkdirSync(join(this.directory, 'ns'));
    this.host = this.#namespace('host');
    this.onHost(`ip link add ${this.bridge} type bridge
      ip address add 10.241.41.1/24 dev ${this.bridge}; ip address add fd00:241:41::1/64 dev ${this.bridge} nodad
      ip link set ${this.bridge} up
      sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1`);
    this.outside = { name: 'outside', netns: this.#namespace('outside'), ips: ['10.242.41.2', 'fd00:242:41::2'] };
    this.#connect(this.outside, 'out');
    this.onHost('ip address add 10.242.41.1/24 dev out; ip address add fd00:242:41::1/64 dev out nodad');
  }

  pod(name: string): HostPod {
    this.#pods += 1;
    const last = 9 + this.#pods;
    const pod = { name, netns: this.#namespace(name), ips: [`10.241.41.${last}`, `fd00:241:41::${last}`] };
    this.#connect(pod, name);
    this.onHost(`ip link set dev ${name} master ${this.bridge}; ip link set dev ${name} type bridge_slave hairpin on`);
    inNamespace(pod.netns, 'ip route add default via 10.241.41.1; ip route add default via fd00:241:41::1');
    return pod;
  }

  /** Starts a server on a port of a pod that replies with `NAME PEER`. It runs until the test ends. */
  async serve({ name, netns }: Pick<HostPod, 'name' | 'netns'>, protocol: 'tcp' | 'udp', port: number): Promise<void> {
    const listen = {
      tcp: `TCP6-LISTEN:${port},fork,reuseaddr`,
      udp: `UDP6-RECVFROM:${port},fork`,
    }[protocol];
    // reads the packet first: socat discards the output of a program that exits before receiving the packet
    const answer = `${protocol === 'udp' ? 'read packet; ' : ''}echo ${name} $SOCAT_PEERADDR`;
    const server = spawn('nsenter', [`--net=${netns}`, 'socat', '-t10', listen, `SYSTEM:${answer}`]);
    this.#servers.push(server);
    const kind = { tcp: '-t', udp: '-u' }[protocol];
    const isListening = () => inNamespace(netns, `ss -Hln ${kind} 'sport = :${port}'`) !== '' || undefined;
    await waitFor(isListening, { intervalMs: 10, signal: bounded() });
  }

  /**
   * Makes calls of `HostRules`, and runs scripts between them, in a process in the simulated host's network namespace. Returns their
   * results.
   */
  rules(...steps: RulesStep[]): unknown[] {
    return this.observedRules(...steps).results;
  }

  /** Like `rules`, but also returns the names of the programs that the calls have started. */
  observedRules(...steps: RulesStep[]): RulesOutcome {
    const { status, stdout, stderr } = this.#run({ steps });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** Like `rules`, but the process kills itself before request `killAt` to the kernel. Returns the signal. */
  killedRules(killAt: number, ...steps: RulesStep[]): NodeJS.Signals | null {
    return this.#run({ steps, killAt }).signal;
  }

  onHost(script: string): string {
    return inNamespace(this.host, script);
  }

  /** Returns all firewall rules of the host, without comments and counters. */
  filterRules(): string {
    const text = this.onHost('nft list ruleset; iptables-save; ip6tables-save; iptables-legacy-save 2>/dev/null');
    return text.replace(/^#.*$/gm, '').replace(/\[\d+:\d+\]|counter packets \d+ bytes \d+/g, '');
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) server.kill('SIGKILL');
    for (const path of this.#namespaces) execFileSync('umount', [path]);
    rmSync(this.directory, { recursive: true });
  }

  #run(what: Pick<RulesRun, 'steps' | 'killAt'>) {
    const { bridge, subnets, filter } = this;
    const run: RulesRun = { bridge, subnets, filter, stateDir: join(this.directory, 'state'), ...what };
    const script = join(import.meta.dirname, 'host-rules.inside.ts');
    const args = [`--net=${this.host}`, process.execPath, script, JSON.stringify(run)];
    return spawnSync('nsenter', args, { encoding: 'utf8' });
  }

  #namespace(name: string): string {
    const path = join(this.directory, 'ns', name);
    writeFileSync(path, '');
    execFileSync('unshare', [`--net=${path}`, 'ip', 'link', 'set', 'lo', 'up']);
    this.#namespaces.push(path);
    return path;
  }

  #connect({ netns, ips }: HostPod, link: string): void {
    this.onHost(`ip link add name ${link} type veth peer name eth0 netns ${netns}; ip link set dev ${link} up`);
    const addresses = ips.map((ip) => `ip address add ${ip}/${ip.includes(':') ? '64 nodad' : '24'} dev eth0`);
    inNamespace(netns, [...addresses, 'ip link set eth0 up'].join('\n'));
  }
}

export function inNamespace(netns: string, script: string): string {
  const args = [`--net=${netns}`, 'sh', '-ec', script];
  return execFileSync('nsenter', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Returns a server's response (`NAME PEER`) to a client in a namespace. Throws if there is none. */
export function ask(netns: string, protocol: 'tcp' | 'udp', address: string, port: number): string {
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const script = {
    tcp: `socat -T10 -u TCP:${target},connect-timeout=3 -`,
    udp: `bash -c 'exec 3<>/dev/udp/${address}/${port}; echo >&3; timeout 10 dd bs=2000 count=1 status=none <&3'`,
  }[protocol];
  const [name, peer = ''] = inNamespace(netns, script).trim().split(' ');
  if (name === '') throw new Error(`no answer from ${address}:${port}`);
  return `${name} ${shortAddress(peer)}`;
}

/** Shortens an address as printed by socat (all 32 digits, in brackets), and unwraps IPv4-mapped IPv6 addresses. */
function shortAddress(peer: string): string {
  const { hostname } = new URL(`http://${peer}`);
  const mapped = /^\[::ffff:(\w+):(\w+)\]$/.exec(hostname);
  if (mapped === null) return hostname.slice(1, -1);
  const [high, low] = [mapped[1]!, mapped[2]!].map((group) => Number.parseInt(group, 16)) as [number, number];
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

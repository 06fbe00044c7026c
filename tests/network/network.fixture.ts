import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, waitFor } from '@podwright/base';
import { parseNetworkList } from '@podwright/cni';
import { loadSystem, NetlinkSockets } from '@podwright/system';
import { BridgeNetwork } from '../../packages/runtime/src/network/bridge/bridge-network.ts';
import { ChosenNetwork } from '../../packages/runtime/src/network/choice/chosen-network.ts';
import { CniNetwork } from '../../packages/runtime/src/network/cni/cni-network.ts';
import type { NetworkRequest } from '../../packages/runtime/src/network/network.ts';

/** Directories in which distributions and tarballs install CNI plugins. */
const binDirs = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'];

export const bounded = (): AbortSignal => AbortSignal.timeout(30_000);

/**
 * A runtime's network on this host, with its own bridge and subnet, and its pods' namespaces. Disposing of it removes everything, even
 * after a failed test.
 */
export class NetworkFixture implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'podwright-network-'));
  readonly bridge: string;
  readonly subnet: string;
  readonly #namespaces = new Set<string>();
  readonly #servers: ChildProcess[] = [];
  readonly #opened: ChosenNetwork[] = [];

  constructor(bridge: string, subnet: string) {
    this.bridge = bridge;
    this.subnet = subnet;
    mkdirSync(this.confDir);
    mkdirSync(join(this.directory, 'ns'));
  }

  get confDir(): string {
    return join(this.directory, 'net.d');
  }

  /** Opens the network as a runtime does on startup; calling it again simulates a restart. */
  async open(sockets = new NetlinkSockets(), { mtu }: { mtu?: number } = {}): Promise<ChosenNetwork> {
    const { bridge, subnet, confDir, directory } = this;
    const directories = { stateDir: join(directory, 'state'), cacheDir: join(directory, 'cache') };
    const parts = { system: loadSystem(), sockets, logger: silentLogger };
    const own = await BridgeNetwork.open({ bridge, subnet, mtu, ...directories, ...parts });
    const network = { confDir, binDirs, bridge, subnet };
    const opened = new ChosenNetwork({ own, network, ...directories, ...parts });
    this.#opened.push(opened);
    return opened;
  }

  /** Creates a namespace with `lo` up, like the sandbox controller; returns its network request. */
  pod(sandboxId: string, more: Partial<NetworkRequest> = {}): NetworkRequest {
    const netnsPath = join(this.directory, 'ns', sandboxId);
    writeFileSync(netnsPath, '');
    execFileSync('unshare', [`--net=${netnsPath}`, 'ip', 'link', 'set', 'lo', 'up']);
    this.#namespaces.add(netnsPath);
    const names = { podName: sandboxId, podNamespace: 'default', podUid: `uid-${sandboxId}` };
    return { sandboxId, ...names, netnsPath, portMappings: [], ...more };
  }

  /** Removes a pod's network namespace; `keepFile` keeps the empty file that was its mount point. */
  removeNamespace(path: string, { keepFile = false } = {}): void {
    execFileSync('umount', [path]);
    if (!keepFile) rmSync(path);
    this.#namespaces.delete(path);
  }

  /** Starts a server on a port of a pod that replies with `NAME PEER`. It runs until the test ends. */
  async serve(
    pod: NetworkRequest,
    protocol: 'tcp' | 'tcp6' | 'udp',
    port: number,
    answer = `echo ${pod.sandboxId} $SOCAT_PEERADDR`,
  ): Promise<void> {
    const listen = {
      tcp: `TCP-LISTEN:${port},fork,reuseaddr`,
      tcp6: `TCP6-LISTEN:${port},fork,reuseaddr,ipv6only=1`,
      udp: `UDP-RECVFROM:${port},fork`,
    }[protocol];
    const args = [`--net=${pod.netnsPath}`, 'socat', listen, `SYSTEM:${answer}`];
    const server = spawn('nsenter', args, { stdio: 'ignore' });
    this.#servers.push(server);
    const kind = protocol === 'tcp6' ? '-Hlnt6' : '-Hlntu4';
    const isListening = () => (inside(pod, 'ss', [kind, `sport = :${port}`]) === '' ? undefined : true);
    await waitFor(isListening, { intervalMs: 10, signal: bounded() });
  }

  endServers(): void {
    for (const server of this.#servers.splice(0)) server.kill('SIGKILL');
  }

  /** Sets up a pod using CNI plugins and their records, as was done by earlier versions, which had no built-in network. */
  async setUpAsBefore(pod: NetworkRequest): Promise<void> {
    const stateDir = join(this.directory, 'state');
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(join(stateDir, `made-${this.bridge}`), '');
    const ranges = [[{ subnet: this.subnet }]];
    const ipam = { type: 'host-local', dataDir: join(stateDir, 'addresses'), ranges, routes: [{ dst: '0.0.0.0/0' }] };
    const bridge = {
      type: 'bridge',
      bridge: this.bridge,
      isGateway: true,
      forceAddress: true,
      hairpinMode: true,
      ipam,
    };
    const list = { cniVersion: '0.4.0', name: `podwright-${this.bridge}`, plugins: [bridge] };
    const cni = new CniNetwork({ binDirs, cacheDir: join(this.directory, 'cache'), logger: silentLogger });
    await cni.setUp(parseNetworkList(JSON.stringify(list)), pod, bounded());
  }

  /** Waits until no pod link is left. The kernel removes links some time after their namespaces. */
  async untilLinksAreGone(): Promise<void> {
    const gone = () => (this.podLinks().length === 0 ? true : undefined);
    await waitFor(gone, { intervalMs: 10, signal: bounded() });
  }

  podLinks(): string[] {
    const links = run('ip', ['-o', 'link', 'show']).split('\n');
    return links.filter(
      (line) => line.includes(`master ${this.bridge} `) || line.includes(`podwright ${this.bridge} `),
    );
  }

  /** Returns what is left of this network on the host, one item per line. */
  leftovers(): string[] {
    const links = run('ip', ['-br', 'link']).split('\n');
    const rules = [run('iptables-save', []), run('nft', ['list', 'ruleset'])].join('\n').split('\n');
    const [subnetStart = ''] = /^\d+\.\d+\.\d+\./.exec(this.subnet) ?? [];
    const files = run('find', [this.directory, '-type', 'f', '-path', '*/state/*', '-or', '-path', '*/cache/*']).split(
      '\n',
    );
    return [
      ...links.filter((line) => line.startsWith(`${this.bridge} `)),
      ...rules.filter((line) => line.includes(this.bridge) || line.includes(subnetStart)),
      ...files.filter((line) => line !== ''),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endServers();
    for (const opened of this.#opened) await opened.close({ removeHostState: false });
    const network = await this.open();
    for (const sandboxId of await network.list()) {
      const netnsPath = join(this.directory, 'ns', sandboxId);
      const names = { podName: '', podNamespace: '', podUid: '' };
      await network.tearDown({ sandboxId, ...names, netnsPath, portMappings: [] }, bounded());
    }
    for (const path of this.#namespaces) execFileSync('umount', [path]);
    await network.close({ removeHostState: true });
    rmSync(this.directory, { recursive: true });
  }
}

/** A host on a network behind this one, without a route to pods: a response from it proves masquerading. */
export class OutsideHost implements Disposable {
  readonly hostAddress: string;
  readonly address: string;
  readonly #link: string;
  readonly pod: NetworkRequest;

  constructor(fixture: NetworkFixture, link: string, prefix: string) {
    this.#link = link;
    this.hostAddress = `${prefix}.1`;
    this.address = `${prefix}.2`;
    this.pod = fixture.pod('outside');
    const peer = `/proc/self/fd/0`;
    run('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'out0']);
    execFileSync('sh', ['-c', `exec 0<"$1"; ip link set out0 netns ${peer}`, 'sh', this.pod.netnsPath]);
    run('ip', ['address', 'add', `${this.hostAddress}/24`, 'dev', link]);
    run('ip', ['link', 'set', link, 'up']);
    inside(this.pod, 'ip', ['address', 'add', `${this.address}/24`, 'dev', 'out0']);
    inside(this.pod, 'ip', ['link', 'set', 'out0', 'up']);
  }

  [Symbol.dispose](): void {
    run('ip', ['link', 'delete', this.#link]);
  }
}

export function run(program: string, args: string[], stdin: string | Buffer = ''): string {
  return execFileSync(program, args, { input: stdin, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
}

export function inside(pod: NetworkRequest, program: string, args: string[], stdin: string | Buffer = ''): string {
  return run('nsenter', [`--net=${pod.netnsPath}`, program, ...args], stdin);
}

/** Returns a server's response to a client in a pod. */
export function fetchInside(pod: NetworkRequest, address: string, port: number): string {
  const target = `TCP:${address.includes(':') ? `[${address}]` : address}:${port},connect-timeout=3`;
  return inside(pod, 'socat', ['-T3', '-u', target, '-']).trim();
}

/** Returns a TCP server's response to a client on the host. Rejects if there is none. */
export function fetchFromHost(host: string, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host, port, timeout: 3000 });
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('timeout', () => socket.destroy(new Error(`no answer from ${host}:${port}`)));
  socket.on('error', reject);
  socket.on('end', () => resolve(text.trim()));
  return promise;
}

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';
import { runChecked } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { type DockerEngine, startDockerEngine } from '../dockershim/docker-engine.fixture.ts';
import { fastPaths } from '../fixtures/fast-paths.ts';
import { type HostInventory, type InventoryScope, leftovers, takeInventory } from '../fixtures/host-inventory.ts';
import { onDocker } from '../kubelet/suite-runtime.fixture.ts';
import type { Bundle } from './bundle.fixture.ts';
import { type Ended, StartedProgram } from './started-program.ts';

export const exampleImage = 'localhost/podwright/busybox:1';

/** Inventory lines that may remain once a node has stopped: its directories, records, log and images. */
const LASTING = [
  /^files: \S+\/(root|state|logs|net\.d|input|cni-bin|config\.toml)$/,
  /^files: \S+\/(input|net\.d|cni-bin)\//,
  /^files: \S+\/root\/(node\.log|manifests|kubelet|kubelet\/(pods|trash|valid-manifests(\/(files|url))?|kubelet\.lock|format\.json|image_manager|image_manager\/pull(ed|ing))|runtime)$/,
  /^files: \S+\/kubelet\/image_manager\/pulled\/sha256-/, // removed with the image
  /^files: \S+\/kubelet\/valid-manifests\/(files|url)\/[\da-f]{64}\.json$/, // removed when the node notices that its manifest is
  /^files: \S+\/root\/runtime\/(lock|format\.json|metadata\.db|containers|sandboxes|trash|network|network\/(attachments|results|cni|choice\.json))$/,
  /^files: \S+\/root\/runtime\/(content|snapshots|host)(\/|$)/,
  /^files: \S+\/root\/(api-server(\/|$)|volumes$)/,
  /^files: \S+\/root\/dockershim(\/(lock|sandboxes))?$/,
  /^files: \S+\/state\/(host|host\/[^/]+|ns|oci|oci\/[^/]+|tasks|sandboxes|containers|network|network\/(addresses|host-ports))$/,
];

/** Settings without ports: two kubelets on one host cannot both listen on upstream's ports. */
export const NO_PORTS = '[kubelet.server]\nport = 0\nhealthz_port = 0\n';

/** Whether the suites' nodes have a Kubernetes API (PODWRIGHT_TEST_API=true), unless a suite overrides it. */
export const withApi = process.env.PODWRIGHT_TEST_API === 'true';

/** A node with its own directories, cgroups and network, controlled through the command line. */
export class NodePlace {
  readonly directory = mkdtempSync('/tmp/pwn-');
  readonly scope: InventoryScope;
  readonly #bundle: Bundle;
  readonly #hasApi: boolean;
  readonly #subnet: string;
  readonly #before: HostInventory;
  #docker: DockerEngine | undefined;

  constructor(bundle: Bundle, subnet: string, { hasApi = withApi }: { hasApi?: boolean } = {}) {
    this.#bundle = bundle;
    this.#hasApi = hasApi;
    this.#subnet = subnet;
    const tag = this.directory.slice('/tmp/pwn-'.length).toLowerCase();
    this.scope = { roots: [this.directory], cgroupParent: `/pwn-${tag}`, bridge: `pwn${tag}` };
    for (const name of ['net.d', 'input']) mkdirSync(join(this.directory, name));
    this.#before = takeInventory(this.scope);
    if (hasApi) this.file('api.toml', `[api]\nenabled = true\nservice_cidr = "${this.serviceCidr}"\n`);
  }

  /** Creates a node on the suites' runtime; with Docker, it gets its own Engine. */
  static async open(bundle: Bundle, subnet: string): Promise<NodePlace> {
    const place = new NodePlace(bundle, subnet);
    if (onDocker) await place.#useDocker();
    return place;
  }

  async #useDocker(): Promise<void> {
    this.#docker = await startDockerEngine();
    const { bridge } = this.scope;
    const ipam = { type: 'host-local', dataDir: this.path('input/addresses'), subnet: this.#subnet };
    const plugins = [
      { type: 'bridge', bridge, isDefaultGateway: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ];
    const network = { cniVersion: '0.4.0', name: bridge, plugins };
    writeFileSync(this.path('net.d/10-test.conflist'), JSON.stringify(network));
    const dockershim = {
      docker_endpoint: this.#docker.socket,
      network_plugin: 'cni',
      cni_conf_dir: this.path('net.d'),
      cni_cache_dir: this.path('input/cni-cache'),
    };
    const lines = Object.entries(dockershim).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    this.file('docker.toml', ['runtime = "docker"', '[dockershim]', ...lines, ''].join('\n'));
  }

  /** A Service IP range that no other node in the tests uses: for 10.172.3.0/24, it is 10.173.3.0/24. */
  get serviceCidr(): string {
    return this.#subnet.replace(/^10\.\d+\./, '10.173.').replace(/\/\d+$/, '/24');
  }

  path(...parts: string[]): string {
    return join(this.directory, ...parts);
  }

  /** Returns the command line, including this node's flags. */
  command(...args: string[]): string[] {
    const { isExecutable = false, program } = this.#bundle;
    return [...(isExecutable ? [] : [process.execPath]), program, ...this.flags(), ...args];
  }

  flags(): string[] {
    const { cgroupParent, bridge } = this.scope;
    const directories = [
      ...['--root', this.path('root'), '--state', this.path('state'), '--pod-logs', this.path('logs')],
      ...(fastPaths ? [] : ['--fast-paths', 'false']),
    ];
    if (this.#docker !== undefined)
      return ['--config', this.path('input/docker.toml'), ...directories, '--cgroup-parent', cgroupParent];
    const network = ['--bridge', bridge, '--subnet', this.#subnet, '--cni-conf-dir', this.path('net.d')];
    const config = this.#hasApi ? ['--config', this.path('input/api.toml')] : [];
    return [...config, ...directories, '--cgroup-parent', cgroupParent, ...network];
  }

  start(...args: string[]): StartedProgram {
    return new StartedProgram(this.command(...args));
  }

  startProgram(...command: string[]): StartedProgram {
    return new StartedProgram(command);
  }

  /** Runs a command to completion; any exit code is accepted. */
  async call(...args: string[]): Promise<Ended> {
    const program = this.start(...args);
    program.child.stdin!.end();
    return program.ended();
  }

  /** Runs a command, which must succeed, and returns its output. */
  async ok(...args: string[]): Promise<string> {
    const { code, out, err } = await this.call(...args);
    if (code !== 0) throw new Error(`podwright ${args.join(' ')}: exit code ${code}\n${out}\n${err}\n${this.log()}`);
    return out;
  }

  /** Asserts that the command exits with 1 and prints a matching message on standard error. */
  async fails(message: RegExp, ...args: string[]): Promise<void> {
    const { code, err } = await this.call(...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(err, message);
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.ok(...args, '-o', 'json')) as T;
  }

  /** Reads a document from the node's Kubernetes API. */
  async api<T>(path: string): Promise<T> {
    const socket = this.path('state/apiserver.sock');
    return JSON.parse(
      await runChecked('curl', ['-sS', '-m', '10', '--unix-socket', socket, `http://node${path}`]),
    ) as T;
  }

  async pods(): Promise<Pod[]> {
    return (await this.json<{ items: Pod[] }>('ps')).items;
  }

  /** Starts the daemon in the foreground and waits until it responds. */
  async startDaemon(...args: string[]): Promise<StartedProgram> {
    const isPlainKubelet = args.includes('kubelet') && !args.includes('--config');
    const config = isPlainKubelet ? ['--config', this.file('ports.toml', NO_PORTS)] : [];
    const daemon = this.start(...config, ...(args.length === 0 ? ['node'] : args));
    await this.until(async () => daemon.child.exitCode !== null || (await this.call('ps')).code === 0);
    if (daemon.child.exitCode !== null) throw new Error(`the daemon exited: ${daemon.err}`);
    return daemon;
  }

  loadImage(): Promise<string> {
    return this.ok('load', this.#bundle.image);
  }

  /** Writes an input file and returns its path. */
  file(name: string, text: string): string {
    const path = this.path('input', name);
    writeFileSync(path, text);
    return path;
  }

  async until(holds: () => Promise<boolean> | boolean, timeoutMs = 60_000): Promise<void> {
    using signal = withTimeout(undefined, timeoutMs, `wait for ${holds}`);
    await waitFor(async () => (await holds()) || undefined, { intervalMs: 50, signal });
  }

  /** Returns the end of the node's own log. */
  log(): string {
    try {
      return readFileSync(this.path('root/node.log'), 'utf8').slice(-5000);
    } catch {
      return '';
    }
  }

  /** Returns the inventory lines of what the node has left on the host and should not remain once it has no pods. */
  leftovers(): string[] {
    const found = leftovers(this.#before, takeInventory(this.scope));
    const bridgeOfCni = this.#docker && `links: /sys/class/net/${this.scope.bridge}`; // the bridge plugin keeps its bridge
    return found.filter((line) => line !== bridgeOfCni && !LASTING.some((pattern) => pattern.test(line)));
  }

  /** Kills the node's processes and removes its mounts, cgroups, links and files, so that a failed test does not affect later ones. */
  async remove(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      const { processes } = takeInventory(this.scope);
      if (processes.length === 0) break;
      for (const line of processes) kill(Number(line.split(' ')[0]));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { mounts, cgroups, links } = takeInventory(this.scope);
    for (const mount of mounts.reverse()) await runChecked('umount', ['-l', mount]).catch(() => undefined);
    for (const cgroup of cgroups.reverse()) await runChecked('rmdir', [cgroup]).catch(() => undefined);
    const { bridge } = this.scope;
    for (const link of links.map((line) => line.split(/[ /]/).at(-1)!))
      await runChecked('ip', ['link', 'delete', link]).catch(() => undefined);
    const services = `podwright-services-${this.serviceCidr.replace(/[/:]/g, '-')}`;
    for (const table of [`podwright_${bridge}`, `podwright-policies-${bridge}`, services])
      await runChecked('nft', ['delete', 'table', 'inet', table]).catch(() => undefined);
    for (const last of ['1', '10']) {
      const address = this.serviceCidr.replace(/0\/24$/, `${last}/32`);
      await runChecked('ip', ['address', 'del', address, 'dev', 'lo']).catch(() => undefined);
    }
    await this.#docker?.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // the process has already exited
  }
}

/** Returns examples/hello.yaml with a different host port. */
export function helloManifest(port: number): string {
  return readFileSync(new URL('../../examples/hello.yaml', import.meta.url), 'utf8').replaceAll('18080', String(port));
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '0.0.0.0');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Returns a pod manifest with one container that runs a shell script; `rest` holds additional lines for the spec. */
export function podManifest(name: string, script: string, rest = ''): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 2
${rest}  containers:
  - name: main
    image: ${exampleImage}
    command: [sh, -c, ${JSON.stringify(script)}]
`;
}

/** A script that runs until SIGTERM, then exits immediately. */
export const forever = 'trap "exit 0" TERM; while :; do sleep 0.2; done';

/** The API of a standalone node at the cluster IP of the `kubernetes` Service, on a simulated host with a pod and a second machine. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runChecked, runProgram } from '@podwright/host';
import { HostFixture, type HostPod, inNamespace } from '../network/host.fixture.ts';

const RANGE = '10.174.41.0/24';
const SIX = 'fd00:174:41::/112';
const OTHER_RANGE = '10.174.42.0/24';
const THIRD_RANGE = '10.174.43.0/24';
const CLAIMS = '/run/podwright-services';
const PODS = '/api/v1/namespaces/default/pods';
const WAIT = () => ({ intervalMs: 50, signal: AbortSignal.timeout(100_000) });

/** Processes started by a test, killed when it ends. */
const started: ChildProcess[] = [];
const scratch = mkdtempSync(join(tmpdir(), 'pw-cluster-ip-'));
let host: HostFixture;
let pod: HostPod;
/** Network namespaces that the tests run programs in: a pod on the bridge, the host, and a machine on the same network. */
let places: Record<'pod' | 'host' | 'neighbour', string>;

before(() => {
  host = new HostFixture();
  host.onHost('sysctl -qw net.bridge.bridge-nf-call-iptables=1; ip route add default via 10.242.41.2');
  pod = host.pod('pod');
  inNamespace(host.outside.netns, `ip route add ${RANGE} via 10.242.41.1`);
  places = { pod: pod.netns, host: host.host, neighbour: host.outside.netns };
});
after(() => {
  host?.[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

afterEach(async () => {
  for (const process of started.splice(0)) {
    if (process.exitCode !== null || process.signalCode !== null) continue;
    process.kill('SIGKILL');
    await once(process, 'close');
  }
});

type StartOptions = { name?: string; range?: string; listen?: string; bridge?: string; claimOnly?: boolean };

/** The API of a node, in a process that runs in the simulated host's network namespace. */
class RunningApi {
  readonly #process: ChildProcess;
  readonly #directory: string;
  readonly address: string;
  log = '';

  constructor({ name = 'node', range = RANGE, listen, bridge = host.bridge, claimOnly = false }: StartOptions = {}) {
    this.#directory = join(scratch, name);
    this.address = range
      .split(',')[0]!
      .replace(/0\/24$/, '1')
      .replace(/::\/112$/, '::1');
    const path = (...parts: string[]) => join(this.#directory, ...parts);
    const flags = {
      ...{ root: path('root'), state: path('state'), cniConfDir: path('net.d'), bridge, subnet: host.subnets },
      ...{ claimOnly, api: 'true', serviceCidr: range, ...(listen && { apiListen: listen }) },
    };
    for (const name of ['root', 'state']) mkdirSync(path(name), { recursive: true });
    const script = join(import.meta.dirname, 'cluster-ip.inside.ts');
    const args = [`--net=${host.host}`, process.execPath, script, JSON.stringify(flags)];
    this.#process = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'pipe'] });
    started.push(this.#process);
    for (const stream of [this.#process.stdout!, this.#process.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
      });
  }

  static async start(options?: StartOptions): Promise<RunningApi> {
    const api = new RunningApi(options);
    await waitFor(() => {
      if (api.#process.exitCode !== null) throw new Error(`the API has ended: ${api.log}`);
      return /^started$/m.test(api.log) || undefined;
    }, WAIT()).catch((error: unknown) => {
      throw new Error(`${error}: ${api.log}`);
    });
    return api;
  }

  async ended(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'close');
  }

  async stop(): Promise<void> {
    this.#process.stdin!.end();
    await this.ended();
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.ended();
  }

  /** Sends a request as the administrator: POST if there is an object, otherwise GET. */
  async call<T>(path: string, object?: object): Promise<T> {
    const socket = join(this.#directory, 'state/apiserver.sock');
    const body = object === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(object)];
    return JSON.parse(
      await runChecked('curl', ['-sS', '-m', '10', '--unix-socket', socket, ...body, `http://a${path}`]),
    );
  }

  /** Writes the files that pods get (the CA certificate and a token of the `default` service account) and lets this account read pods. */
  async credentials(): Promise<void> {
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    await this.call(bindings, {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    });
    const maps = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
    const authority = await waitFor(
      async () => (await this.call<{ data?: Record<string, string> }>(maps)).data?.['ca.crt'],
      WAIT(),
    );
    const account = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const { token } = (await this.call<{ status: { token: string } }>(account, {})).status;
    writeFileSync(join(this.#directory, 'ca.crt'), authority);
    writeFileSync(join(this.#directory, 'header'), `Authorization: Bearer ${token}\n`);
  }

  /**
   * Lists pods from a network namespace, authenticated with the token. Returns the HTTP status, or curl's exit code if there is no
   * response.
   */
  async listPods(netns: string, port = 443, name = 'kubernetes.default.svc'): Promise<number> {
    const path = (file: string) => join(this.#directory, file);
    const { exitCode, stdout } = await runProgram('nsenter', [
      ...[`--net=${netns}`, 'curl', '-sS', '-m', '5', '-o', '/dev/null', '-w', '%{http_code}'],
      ...['--cacert', path('ca.crt'), '-H', `@${path('header')}`],
      ...[
        '--resolve',
        `${name}:${port}:${isIPv6(this.address) ? `[${this.address}]` : this.address}`,
        `https://${name}:${port}${PODS}`,
      ],
    ]);
    return exitCode === 0 ? Number(stdout) : (exitCode ?? -1);
  }

  async until(netns: string, status: number): Promise<void> {
    await waitFor(async () => (await this.listPods(netns)) === status || undefined, WAIT());
  }
}

type Slice = { endpoints: { addresses: string[] }[]; ports: { port: number }[] };

/** Returns those of the host's addresses that are in the Service ranges of these tests. */
const ownAddresses = () => host.onHost('ip -4 -o address show').match(/10\.174\.\d+\.\d+\/\d+/g) ?? [];

test('pods and the host reach the API by all of its names with default settings, but other machines do not', async () => {
  const api = await RunningApi.start();
  await api.credentials();
  const slice = await api.call<Slice>('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
  const [port] = slice.ports;
  assert.deepEqual([slice.endpoints[0]?.addresses, port?.port], [[api.address], 6443]);
  for (const place of ['pod', 'host'] as const) {
    await api.until(places[place], 200);
    const long = 'kubernetes.default.svc.cluster.local';
    for (const name of ['kubernetes', 'kubernetes.default', long, api.address])
      assert.equal(await api.listPods(places[place], 443, name), 200, `${place}: ${name}`);
    assert.equal(await api.listPods(places[place], 6443), 200, `${place}: the endpoint itself`);
  }
  const refused = [7, 35, 56]; // refused or reset
  for (const at of [443, 6443]) assert.ok(refused.includes(await api.listPods(places.neighbour, at)), `port ${at}`);
  const answer = inNamespace(pod.netns, `dig +short +time=2 @${api.address}0 kubernetes.default.svc.cluster.local`);
  assert.equal(answer.trim(), api.address);
  await api.stop();
  assert.deepEqual(ownAddresses(), []);
});

test('a start after a kill reuses the addresses, and pods reach the API again', async () => {
  const killed = await RunningApi.start();
  await killed.kill();
  const expected = [killed.address, `${killed.address}0`].map((address) => `${address}/32`);
  assert.deepEqual(ownAddresses(), expected);
  const api = await RunningApi.start();
  assert.deepEqual(ownAddresses(), expected);
  await api.credentials();
  await api.until(places.pod, 200);
  await api.stop();
  assert.deepEqual(ownAddresses(), []);
});

/** Returns the Service address ranges recorded by this test's nodes, by the name of the node's directory. */
function recordedRanges(): Record<string, string[]> {
  const records = readdirSync(CLAIMS).map((name) => join(CLAIMS, name, 'claim.json'));
  const claims = records.filter((path) => existsSync(path)).map((path) => JSON.parse(readFileSync(path, 'utf8')));
  const own = claims.filter(({ root }: { root: string }) => root.startsWith(scratch));
  return Object.fromEntries(own.map(({ root, ranges }) => [root.split('/').at(-2), ranges]));
}

const tablesOnHost = () =>
  host
    .onHost('nft list tables')
    .split('\n')
    .filter((line) => line.includes('podwright-'))
    .map((line) => line.replace(/^table inet podwright-/, ''))
    .sort();

test('the next start of any node removes leftovers of killed nodes, but nothing from a running one', async () => {
  const running = await RunningApi.start({ name: 'running', range: OTHER_RANGE, bridge: 'pwt1' });
  const ofRunning = ['policies-pwt1', 'services-10.174.42.0-24'];
  const killed = await RunningApi.start();
  await waitFor(() => tablesOnHost().length === 4 || undefined, WAIT());
  await killed.kill();
  const moved = await RunningApi.start({ range: THIRD_RANGE });
  assert.deepEqual(
    ownAddresses(),
    [running, moved].flatMap(({ address }) => [`${address}/32`, `${address}0/32`]),
  );
  await waitFor(() => tablesOnHost().includes('services-10.174.43.0-24') || undefined, WAIT());
  assert.deepEqual(tablesOnHost(), [
    'policies-pwt0',
    'policies-pwt1',
    'services-10.174.42.0-24',
    'services-10.174.43.0-24',
  ]);
  await moved.kill();
  assert.deepEqual(recordedRanges(), { running: [OTHER_RANGE], node: [THIRD_RANGE] });
  const another = await RunningApi.start({ name: 'another', range: RANGE, bridge: 'pwt2', claimOnly: true });
  assert.equal(ownAddresses().length, 4);
  assert.ok(tablesOnHost().includes('policies-pwt0'), 'policies still protect the pods of a node that may start again');
  await another.stop();
  rmSync(join(scratch, 'node'), { recursive: true });
  const last = await RunningApi.start({ name: 'last', range: RANGE, bridge: 'pwt2', claimOnly: true });
  assert.deepEqual(tablesOnHost(), ofRunning);
  assert.deepEqual(recordedRanges(), { running: [OTHER_RANGE], last: [RANGE] });
  await last.stop();
  await running.credentials();
  await running.until(places.pod, 200);
  await running.stop();
  assert.deepEqual([ownAddresses(), tablesOnHost(), recordedRanges()], [[], [], {}]);
  assert.deepEqual(
    readdirSync(CLAIMS).filter((name) => name.startsWith('10.174.4')),
    [],
  );
});

test('two nodes on a host have different ranges, and a failed start leaves no address', async () => {
  const one = await RunningApi.start();
  const two = await RunningApi.start({ name: 'other', range: OTHER_RANGE, bridge: 'pwt1' });
  for (const api of [one, two]) {
    await api.credentials();
    await api.until(places.pod, 200);
  }
  await two.stop();
  const refused = new RunningApi({ range: OTHER_RANGE }); // the directory of the first one, whose file is in use
  await refused.ended();
  assert.match(refused.log, /another process has opened the file/);
  assert.deepEqual(ownAddresses(), [`${one.address}/32`, `${one.address}0/32`]);
  await one.stop();
});

test('pods reach the API in an IPv6 range, and in dual-stack Services get both addresses', async () => {
  inNamespace(host.outside.netns, `ip -6 route add ${SIX} via fd00:242:41::1`);
  const killed = await RunningApi.start({ name: 'six', range: SIX, claimOnly: true });
  await killed.kill(); // leaves its addresses, to which the kernel has routes
  const six = await RunningApi.start({ name: 'six', range: SIX });
  await six.credentials();
  for (const place of ['pod', 'host'] as const) await six.until(places[place], 200);
  assert.ok([7, 35, 56].includes(await six.listPods(places.neighbour)));
  const lines = () => host.onHost('ip -6 -o address show dev lo').match(/fd00:174:\S+/g);
  assert.deepEqual(lines(), ['fd00:174:41::a/128', 'fd00:174:41::1/128']);
  await six.stop();
  assert.equal(lines(), null);
  const four = await RunningApi.start({ name: 'six', range: RANGE }); // the same objects, with addresses of the other family
  await four.credentials();
  for (const place of ['pod', 'host'] as const) await four.until(places[place], 200);
  const dns = await four.call<{ spec: { clusterIP: string } }>('/api/v1/namespaces/kube-system/services/kube-dns');
  assert.equal(dns.spec.clusterIP, `${four.address}0`);
  await four.stop();
  const dual = await RunningApi.start({ name: 'dual', range: `${RANGE},${SIX}` });
  await dual.credentials();
  for (const place of ['pod', 'host'] as const) await dual.until(places[place], 200);
  type Service = { spec: { clusterIPs: string[] } };
  const service = await dual.call<Service>('/api/v1/namespaces/default/services', {
    metadata: { name: 'both' },
    spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] },
  });
  assert.match(service.spec.clusterIPs.join(), /^10\.174\.41\.\d+,fd00:174:41::[0-9a-f]+$/);
  await dual.stop();
});

test('pods reach the API even if another program on the host listens on its port', async () => {
  const taken = spawn('nsenter', [`--net=${host.host}`, 'socat', 'TCP-LISTEN:6443,fork', 'SYSTEM:true']);
  started.push(taken);
  await waitFor(() => host.onHost("ss -Hltn 'sport = :6443'") !== '' || undefined, WAIT());
  const api = await RunningApi.start();
  await api.credentials();
  for (const place of ['pod', 'host'] as const) await api.until(places[place], 200);
  await api.stop();
  taken.kill();
});

test('the endpoint is the host address at which the API listens, if there is one', async () => {
  const api = await RunningApi.start({ listen: '10.242.41.1:6444' });
  await api.credentials();
  const slice = await api.call<Slice>('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
  assert.deepEqual([slice.endpoints[0]?.addresses, slice.ports[0]?.port], [['10.242.41.1'], 6444]);
  for (const place of ['pod', 'host'] as const) await api.until(places[place], 200);
  await api.stop();
});

test('a node does not add addresses that the host routes elsewhere, and logs the reason', async () => {
  for (const [route, isRefused] of [
    [RANGE, true],
    [`${RANGE.replace(/0\/24$/, '8')}/29`, true], // includes the address of the DNS server
    [`${RANGE.replace(/0\/24$/, '64')}/26`, false],
    ['10.0.0.0/8', false],
  ] as const) {
    host.onHost(`ip route add ${route} via 10.242.41.2`);
    const api = await RunningApi.start({ claimOnly: true });
    assert.equal(ownAddresses().length, isRefused ? 0 : 2, route);
    if (isRefused) assert.match(api.log, new RegExp(`serve Services in ${RANGE}: this host routes ${route} elsewhere`));
    if (route.endsWith('/26')) assert.match(api.log, /the host has routes to addresses that Services may get/);
    await api.stop();
    host.onHost(`ip route del ${route}`);
  }
});

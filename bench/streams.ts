/** The kubelet's HTTP API: streams, logs and statistics of Podwright's and upstream's kubelets, requested by the same client in turns. */
import { EventEmitter, once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { Duplex, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { errorCode } from '@podwright/base';
import { PortForwarder, runRemoteCommand } from '@podwright/streaming';
import type { Bench } from './bench.ts';
import { type KubeletSide, type Sides, withKubelets } from './kubelet-sides.ts';
import { IMAGE } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';

const TURNS = { rounds: 10, settleMs: 100 };
const MANY_PODS = 50;
const MAX_LOST = 50;
const MANY_BYTES = 100 << 20;
const CHUNK = Buffer.alloc(64 << 10, 'x');
const LOG_LINE = 'a line of a log, a hundred characters long with its end, as servers write many of them all day long';
const PORTS = { hello: 8080, source: 8081, sink: 8082 };

/** A pod whose streams are measured, and its kubelet. */
type Target = {
  side: KubeletSide;
  name: string;
  /** Follows the log of the container `lines`; emits `line` for each chunk received. */
  followed: EventEmitter;
  forwarder: PortForwarder;
  /** Number of commands whose exit code was lost: containerd 1.6 may reset the connection before upstream's kubelet has read it. */
  lost: number;
};
type Measure = (target: Target) => Promise<unknown>;

/** Measures the kubelets' HTTP APIs. The table's first column is empty if there is no upstream kubelet. */
export function measureStreams(bench: Bench): Promise<Table> {
  return withKubelets(bench, { name: 'streams', indices: [11, 12, 13] }, async (sides) => ({
    title: "The kubelet's HTTP API",
    ...(await measure(sides)),
  }));
}

const STREAMS: Record<string, Measure> = {
  'exec `true`': (target) => exec(target, ['true']),
  'exec, 100 MiB out': (target) => exec(target, ['dd', 'if=/dev/zero', 'bs=64k', `count=${MANY_BYTES >> 16}`]),
  // uses `wc` instead of `cat > /dev/null`, because containerd 1.6 reports the exit of `cat` before all input has been read
  'exec, 100 MiB in': (target) => exec(target, ['wc', '-c'], Readable.from(chunks())),
  'logs, 100 MB': (target) => page(target, logPath(target, 'long')),
  'logs, the last 100 lines of them': (target) => page(target, logPath(target, 'long', 'tailLines=100')),
  'logs, a line written → followed': followedLine,
  'port-forward, a connection': (target) => forwarded(target, PORTS.hello, []),
  'port-forward, 100 MiB out': (target) => forwarded(target, PORTS.source, []),
  'port-forward, 100 MiB in': (target) => forwarded(target, PORTS.sink, chunks()),
};

const PAGES = ['/pods', '/stats/summary', '/metrics/resource'];

async function measure(sides: Sides): Promise<Pick<Table, 'rows' | 'below'>> {
  const names = Object.keys(sides) as (keyof Sides)[];
  const targets = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await startTarget(sides[name])] as const)),
  ) as Record<keyof Sides, Target>;
  const goals: Row['goals'] = { podwright: { ratio: 1 }, matched: { ratio: 1 } };
  const rows: Row[] = [];
  const add = async (what: string, work: Measure) => {
    const turns = names.map((name) => [name, () => timed(work, targets[name])]);
    rows.push({ what, ...(await inTurns(TURNS, Object.fromEntries(turns) as Turns)), goals });
  };
  try {
    for (const [what, work] of Object.entries(STREAMS)) await add(what, work);
    await Promise.all(names.map((name) => startManyPods(sides[name])));
    for (const path of PAGES) await add(`${path} with ${MANY_PODS} pods`, (target) => page(target, path));
    const lost = names.map((name) => `${name} ${targets[name].lost}`).join(', ');
    return { rows, below: `Commands whose exit code was lost on the way, and which were run again: ${lost}.\n` };
  } finally {
    for (const { forwarder } of Object.values(targets)) forwarder.close();
  }
}

type Turns = Record<keyof Sides, () => Promise<number>>;

async function timed(work: Measure, target: Target): Promise<number> {
  for (;;) {
    const beginMs = performance.now();
    try {
      await work(target);
      return performance.now() - beginMs;
    } catch (error) {
      if (errorCode(error) !== 'unavailable' || ++target.lost > MAX_LOST) throw error;
    }
  }
}

async function startTarget(side: KubeletSide): Promise<Target> {
  writeManifest(side, 'streams', targetManifest(side.out));
  const name = await until(async () => (await runningPods(side)).find((one) => one.startsWith('streams')), 100);
  const followed = new EventEmitter();
  const forwarder = new PortForwarder({ url: `${side.url}/portForward/default/${name}` });
  const target = { side, name, followed, forwarder, lost: 0 };
  await until(async () => (await page(target, logPath(target, 'long', 'tailLines=1'))).includes('end'), 200);
  const log = await open(side, logPath(target, 'lines', 'follow=true'));
  log.on('error', () => undefined).on('data', () => followed.emit('line'));
  return target;
}

async function startManyPods(side: KubeletSide): Promise<void> {
  for (let index = 0; index < MANY_PODS; index++) writeManifest(side, `many-${index}`, idleManifest(`many-${index}`));
  const run = async () => (await runningPods(side)).filter((name) => name.startsWith('many')).length;
  await until(async () => (await run()) === MANY_PODS || undefined, 500);
}

type ListedPod = {
  metadata: { name: string };
  status: { containerStatuses?: { state: { running?: object } }[] };
};

async function runningPods(side: KubeletSide): Promise<string[]> {
  const answer = await open(side, '/pods').catch(() => undefined); // the kubelet may not listen yet
  if (answer === undefined) return [];
  const { items } = JSON.parse(await text(answer)) as { items: ListedPod[] | null };
  const runs = ({ status: { containerStatuses = [] } }: ListedPod) =>
    containerStatuses.length > 0 && containerStatuses.every(({ state }) => state.running !== undefined);
  return (items ?? []).filter(runs).map(({ metadata }) => metadata.name);
}

const logPath = ({ name }: Pick<Target, 'name'>, container: string, query = '') =>
  `/containerLogs/default/${name}/${container}?${query}`;

async function open({ url }: KubeletSide, path: string): Promise<IncomingMessage> {
  const [answer] = (await once(get(url + path), 'response')) as [IncomingMessage];
  if (answer.statusCode === 200) return answer;
  throw new Error(`${url}${path}: ${answer.statusCode} ${await text(answer)}`);
}

/** Reads a response body and returns its last chunk. */
async function page({ side }: Pick<Target, 'side'>, path: string): Promise<string> {
  let last: Buffer = Buffer.alloc(0);
  for await (const chunk of (await open(side, path)) as AsyncIterable<Buffer>) last = chunk;
  return last.toString('latin1');
}

async function exec({ side, name }: Target, command: string[], stdin?: Readable): Promise<void> {
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]));
  query.set('output', '1');
  if (stdin !== undefined) query.set('input', '1');
  const url = `${side.url}/exec/default/${name}/server?${query}`;
  const code = await runRemoteCommand({ url }, { stdin, stdout: nowhere(), tty: false });
  if (code !== 0) throw new Error(`${url}: exit code ${code}`);
}

async function followedLine({ side, followed }: Target): Promise<void> {
  const line = once(followed, 'line', { signal: AbortSignal.timeout(30_000) });
  writeFileSync(join(side.out, 'lines'), 'a line\n');
  await line;
}

async function forwarded({ forwarder }: Target, port: number, input: Iterable<Buffer>): Promise<void> {
  const local = Duplex.from({ readable: Readable.from(input), writable: nowhere() });
  await forwarder.forward(local, port);
}

function* chunks(): Generator<Buffer> {
  for (let bytes = 0; bytes < MANY_BYTES; bytes += CHUNK.length) yield CHUNK;
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

function writeManifest({ manifests }: KubeletSide, name: string, yaml: string): void {
  const temporary = join(manifests, `.${name}.tmp`);
  writeFileSync(temporary, yaml);
  renameSync(temporary, join(manifests, `${name}.yaml`));
}

/**
 * A pod with three containers: `long` has a long log, `lines` logs every line that the benchmark writes to a pipe, and `server` greets,
 * sends and receives on one port each.
 */
function targetManifest(out: string): string {
  const long = `yes '${LOG_LINE}' | head -c ${MANY_BYTES}; echo end; exec sleep 36000`;
  const lines = 'mkfifo /out/lines; exec 3<>/out/lines; exec cat <&3';
  const serve = (port: number, command: string) => `nc -ll -p ${port} -e ${command}`;
  const server = [
    serve(PORTS.hello, 'echo hello &'),
    serve(PORTS.source, `dd if=/dev/zero bs=64k count=${MANY_BYTES >> 16} &`),
    `exec ${serve(PORTS.sink, `sh -c 'head -c ${MANY_BYTES} | wc -c'`)}`,
  ];
  const container = (name: string, script: string, more = '') =>
    `    - { name: ${name}, image: "${IMAGE}", command: [sh, -c, ${JSON.stringify(script)}]${more} }\n`;
  return `apiVersion: v1
kind: Pod
metadata: { name: streams, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
${container('long', long)}${container('lines', lines, ', volumeMounts: [{ name: out, mountPath: /out }]')}${container('server', server.join('\n'))}  volumes: [{ name: out, hostPath: { path: "${out}" } }]
`;
}

const idleManifest = (name: string) => `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: c, image: "${IMAGE}", command: [sleep, "36000"] }]
`;

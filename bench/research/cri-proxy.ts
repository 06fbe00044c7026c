/**
 * Measures the overhead of `podwright cri-proxy` per CRI call: `node bench/research/cri-proxy.ts`. The client, the proxy and an in-memory
 * runtime are three separate processes. The goal is at most 0.3 ms per call.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { startCriProxy } from '@podwright/cri-proxy';
import { parseEndpoint } from '@podwright/grpc';
import { exactCpuTimeMs } from '../processes.ts';
import { quantile } from '../tables.ts';
import { inTurns } from '../turns.ts';

const CONTAINERS = 100;
const ROUNDS = 1000;
/**
 * Settings for the recording proxy: number of rounds, and a pause after each. That proxy keeps working for a few milliseconds after each
 * call, which must not be counted in the next measurement.
 */
const RECORDING = { rounds: 200, settleMs: 10 };
/** Warm-up calls before measuring, so that the JIT compiler has already compiled the code. */
const WARM_UP = 300;
const SHARES = [0.1, 0.5, 0.99];
const HEAD =
  '| call (p10, p50, p99) | direct | proxy: more | its CPU | proxy with JSON and recording: more | its CPU |';
const GOAL_MS = 0.3;

type Role = 'runtime' | 'proxy' | 'recording';

const socketOf = (directory: string, role: Role) => join(directory, `${role}.sock`);

/** In a child process: serves the in-memory runtime or one of the proxies on its socket until the parent exits. */
async function serve(role: Role, directory: string): Promise<void> {
  const socket = socketOf(directory, role);
  if (role === 'runtime') {
    const runtime = new FakeRuntime({ images: ['busybox'], sharesMessages: true });
    await fill(runtime.client);
    await createCriServer({ socket, handlers: runtime.handlers, logger: silentLogger });
  } else {
    const output = openSync('/dev/null', 'w');
    const write = (line: string) => void writeSync(output, line);
    const isRecording = role === 'recording';
    await startCriProxy({
      socket,
      to: parseEndpoint(socketOf(directory, 'runtime')),
      logger: silentLogger,
      display: { format: isRecording ? 'json' : 'table', bodies: isRecording, methods: [], pods: [], write },
      record: isRecording ? join(directory, 'recording.jsonl') : undefined,
    });
    process.once('exit', () => closeSync(output));
  }
  process.once('disconnect', () => process.exit());
  process.send!('serving');
}

async function fill({ runtime }: CriClient): Promise<void> {
  const config = { metadata: { name: 'p', uid: 'u', namespace: 'default', attempt: 0 } };
  const { podSandboxId } = await runtime.runPodSandbox({ config });
  const labels = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`example.com/label-${at}`, `value ${at}`]));
  for (let index = 0; index < CONTAINERS; index++)
    await runtime.createContainer({
      podSandboxId,
      config: { metadata: { name: `c${index}`, attempt: 0 }, image: { image: 'busybox' }, labels, annotations: labels },
    });
}

async function measure(directory: string): Promise<void> {
  const roles: Role[] = ['runtime', 'proxy', 'recording'];
  const pids: number[] = [];
  for (const role of roles) {
    const child = fork(import.meta.filename, [role, directory]);
    pids.push(child.pid!);
    await once(child, 'message');
  }
  const clients = await Promise.all(
    roles.map((role) => connectCri({ runtimeEndpoint: socketOf(directory, role), logger: silentLogger })),
  );
  const [direct, proxied, recorded] = clients as [CriClient, CriClient, CriClient];
  const { containers } = await direct.runtime.listContainers({});
  const calls: Record<string, (cri: CriClient) => Promise<unknown>> = {
    Version: ({ runtime }) => runtime.version({}),
    ContainerStatus: ({ runtime }) => runtime.containerStatus({ containerId: containers[0]!.id }),
    [`ListContainers, ${CONTAINERS} containers`]: ({ runtime }) => runtime.listContainers({}),
  };
  console.log(`${HEAD}\n|---|---|---|---|---|---|`);
  let most = 0;
  for (const [name, call] of Object.entries(calls)) {
    const timed = (cri: CriClient) => async () => {
      const beginMs = performance.now();
      await call(cri);
      return performance.now() - beginMs;
    };
    for (let count = 0; count < WARM_UP; count++) for (const cri of clients) await call(cri);
    /** Alternates calls through a proxy with direct calls. The proxy's CPU time includes work after the response, such as printing. */
    const measured = async (cri: CriClient, pid: number, pace: { rounds: number; settleMs: number }) => {
      const beforeMs = exactCpuTimeMs(pid);
      const samples = await inTurns(pace, { direct: timed(direct), through: timed(cri) });
      return { ...samples, cpuMs: (exactCpuTimeMs(pid) - beforeMs) / (pace.rounds + 1) };
    };
    const plain = await measured(proxied, pids[1]!, { rounds: ROUNDS, settleMs: 0 });
    const recording = await measured(recorded, pids[2]!, RECORDING);
    const more = (share: number, of: typeof plain) => quantile(of.through, share) - quantile(of.direct, share);
    most = Math.max(most, more(0.5, plain));
    const text = (...ms: number[]) => ms.map((one) => `${one.toFixed(3)} ms`).join(', ');
    const added = (of: typeof plain) => text(...SHARES.map((share) => more(share, of)));
    const itself = text(...SHARES.map((share) => quantile(plain.direct, share)));
    const row = [name, itself, added(plain), text(plain.cpuMs), added(recording), text(recording.cpuMs)];
    console.log(`| ${row.join(' | ')} |`);
  }
  const verdict = most <= GOAL_MS ? 'met' : 'missed';
  console.log(`\nGoal: at most ${GOAL_MS} ms more at p50: ${verdict}. Load: ${loadavg()[0]!.toFixed(1)}.`);
}

const [role, place] = process.argv.slice(2);
if (role !== undefined) await serve(role as Role, place!);
else {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-cri-proxy-'));
  try {
    await measure(directory);
  } finally {
    rmSync(directory, { recursive: true });
    process.exit();
  }
}

/**
 * A test shim that implements containerd's Sandbox API: `node sandbox-shim.ts -id ID -bundle B … start|delete`. A sandbox is a process in
 * its own PID, IPC and UTS namespaces and in the given network namespace. Tasks are run by the host's containerd-shim-runc-v2; the task
 * service proxies all calls to it. The annotation `test.podwright/shim` makes the shim misbehave: `refuses`, `hangs`, or `empty`, in which
 * case the sandbox has no process, and the shim reports as little as containerd 1.7's runc shim.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyPack, timestampNow } from '@bufbuild/protobuf/wkt';
import { PodwrightError, silentLogger, waitFor } from '@podwright/base';
import { PodSandboxConfigSchema } from '@podwright/cri';
import { Sandbox } from '../../packages/shim/src/gen/containerd/runtime/sandbox/v1/sandbox_pb.js';
import { DeleteResponseSchema, Task } from '../../packages/shim/src/gen/containerd/task/v2/shim_pb.js';
import { MetricsSchema } from '../../packages/shim/src/gen/io/containerd/cgroups/v2/metrics_pb.js';
import { Shim } from '../../packages/shim/src/shim.ts';
import { socketPath } from '../../packages/shim/src/shim-endpoint.ts';
import { startShim } from '../../packages/shim/src/shim-program.ts';
import { TtrpcServer } from '../../packages/ttrpc/src/server.ts';
import type { TtrpcHandlers } from '../../packages/ttrpc/src/service.ts';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).map((argument) => argument.replace(/^-(?=\w\w)/, '--')),
  options: {
    namespace: { type: 'string', default: '' },
    address: { type: 'string', default: '' },
    'publish-binary': { type: 'string', default: '' },
    id: { type: 'string', default: '' },
    bundle: { type: 'string', default: '' },
  },
  allowPositionals: true,
});
const { id, bundle } = values;
/** Path of the socket, shortened to fit into 107 bytes. */
const socket = join(dirname(dirname(bundle)), `${id.slice(0, 12)}.sock`);
const pidFile = join(bundle, 'sandbox.pid');
/** File with the socket path of the shim that runs the tasks. */
const taskShimFile = join(bundle, 'task-shim');
/** Metrics that the shim reports for every sandbox. */
const USE = create(MetricsSchema, { cpu: { usageUsec: 7n }, memory: { usage: 12_345n } });

const actions: Record<string, () => Promise<void>> = { start, serve, delete: remove };
await actions[positionals[0]!]!();

/** Starts the process that serves the Sandbox API, and prints its address. */
async function start(): Promise<void> {
  const args = [...process.argv.slice(1, -1), 'serve'];
  const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore', cwd: bundle });
  await waitFor(async () => (existsSync(socket) ? true : undefined), {
    intervalMs: 10,
    signal: AbortSignal.timeout(60_000),
  });
  child.unref();
  process.stdout.write(JSON.stringify({ version: 2, address: `unix://${socket}`, protocol: 'ttrpc' }));
}

/** Cleans up after a shim that was killed: kills the sandbox's process and removes the sockets. */
async function remove(): Promise<void> {
  if (existsSync(pidFile)) killQuietly(Number(readFileSync(pidFile, 'utf8')));
  if (existsSync(taskShimFile)) rmSync(readFileSync(taskShimFile, 'utf8'), { force: true });
  rmSync(socket, { force: true });
  process.stdout.write(toBinary(DeleteResponseSchema, create(DeleteResponseSchema, { exitedAt: timestampNow() })));
}

async function serve(): Promise<void> {
  const server = new TtrpcServer({ logger: silentLogger });
  let started: Promise<Shim> | undefined;
  const tasks = () => (started ??= startTaskShim());
  server.add(Task, passedOn(tasks));
  const endTasks = async () => {
    if (started === undefined) return;
    const { tasks, closed } = await started;
    await tasks.shutdown({ id, now: true }).catch(() => undefined); // the answer may be lost because the shim exits
    await closed;
  };
  server.add(Sandbox, sandboxService(server, endTasks));
  await server.listen(socket, 0o600);
}

async function startTaskShim(): Promise<Shim> {
  const home = { namespace: values.namespace, events: values.address, publisher: values['publish-binary'] };
  const program = { path: 'containerd-shim-runc-v2' };
  const signal = AbortSignal.timeout(60_000);
  const endpoint = await startShim(home, { program, id, bundle }, signal);
  writeFileSync(taskShimFile, socketPath(endpoint.address));
  return Shim.connect(endpoint, signal);
}

/** Task service handlers that proxy every call to the runc shim, which is started on the first call. */
function passedOn(shim: () => Promise<Shim>): TtrpcHandlers<typeof Task> {
  const handlers = Task.methods.map(({ localName }) => [
    localName,
    async (request: unknown, signal: AbortSignal) => {
      const { tasks } = await shim();
      const call = tasks[localName as keyof typeof tasks] as (request: unknown, options: object) => Promise<object>;
      return await call(request, { signal, timeoutMs: 0 });
    },
  ]);
  return Object.fromEntries(handlers) as TtrpcHandlers<typeof Task>;
}

function sandboxService(server: TtrpcServer, endTasks: () => Promise<void>): TtrpcHandlers<typeof Sandbox> {
  let netns = '';
  let hostname = '';
  let mood = '';
  let first: { process: ChildProcess; pid: number; ended: Promise<unknown> } | undefined;
  const alive = () => first !== undefined && first.process.exitCode === null && first.process.signalCode === null;
  return {
    async createSandbox({ netnsPath, options, annotations, sandboxId, bundlePath }) {
      mood = annotations['test.podwright/shim'] ?? '';
      if (mood === 'refuses') throw new PodwrightError('resource_exhausted', 'no room for another sandbox');
      if (sandboxId !== id || bundlePath !== bundle) throw new PodwrightError('invalid_argument', 'another sandbox');
      if (options?.typeUrl !== PodSandboxConfigSchema.typeName)
        throw new PodwrightError('invalid_argument', `options are ${options?.typeUrl}`);
      hostname = fromBinary(PodSandboxConfigSchema, options.value).hostname;
      netns = netnsPath;
      return {};
    },
    async startSandbox() {
      if (mood === 'empty') return {};
      first = await startProcess(netns, hostname);
      writeFileSync(pidFile, String(first.pid));
      return { pid: first.pid, createdAt: timestampNow() };
    },
    platform: async () => ({ platform: { os: 'linux', architecture: 'amd64' } }),
    async stopSandbox() {
      if (mood === 'hangs') await new Promise(() => undefined);
      killQuietly(first?.pid);
      await first?.ended;
      if (mood === 'empty') setImmediate(() => process.exit(0));
      return {};
    },
    async waitSandbox() {
      await first?.ended;
      return mood === 'empty' ? {} : { exitStatus: 137, exitedAt: timestampNow() };
    },
    async sandboxStatus({ sandboxId }) {
      if (mood === 'empty') return {};
      const state = alive() ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY';
      return { sandboxId, pid: first?.pid ?? 0, state, info: { hostname } };
    },
    pingSandbox: async () => ({}),
    async shutdownSandbox() {
      killQuietly(first?.pid);
      await endTasks();
      rmSync(pidFile, { force: true });
      await server.close();
      process.exit(0);
    },
    sandboxMetrics: async () => ({ metrics: { id, timestamp: timestampNow(), data: anyPack(MetricsSchema, USE) } }),
  };
}

/** Starts the sandbox process, which exits along with this process. */
async function startProcess(netns: string, hostname: string) {
  const inNetwork = netns === '' ? [] : ['nsenter', `--net=${netns}`];
  const script = `${hostname === '' ? '' : `hostname ${hostname}; `}exec catatonit -P`;
  const isolated = ['unshare', '--pid', '--ipc', '--uts', '--fork', '--kill-child', 'sh', '-c', script];
  const [program, ...args] = [...inNetwork, ...isolated] as [string, ...string[]];
  const process = spawn(program, args, { stdio: 'ignore' });
  const ended = once(process, 'exit');
  const child = async () => {
    const pids = execFileSync('cat', [`/proc/${process.pid}/task/${process.pid}/children`], { encoding: 'utf8' });
    const pid = Number(pids.trim());
    return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('catatonit') ? pid : undefined;
  };
  const pid = await waitFor(child, { intervalMs: 5, signal: AbortSignal.timeout(60_000) });
  return { process, pid, ended };
}

function killQuietly(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // the process has exited
  }
}

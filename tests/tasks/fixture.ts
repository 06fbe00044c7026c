import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { silentLogger } from '@podwright/base';
import { discoverCgroups, killCgroup, removeCgroup } from '@podwright/host';
import type { OciSpec } from '@podwright/oci';
import { readKernelAbilities } from '../../packages/runtime/src/host/kernel.ts';
import type { OciFastPaths } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import type { OciProgram } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { probeOciRuntime } from '../../packages/runtime/src/oci-runtime/oci-runtimes.ts';
import { OciTaskRuntime, type OciTaskRuntimeOptions } from '../../packages/runtime/src/tasks/oci/oci-task-runtime.ts';
import { ShimTaskRuntime } from '../../packages/runtime/src/tasks/shim/shim-task-runtime.ts';
import type { TaskRuntimeHarness } from '../../packages/runtime/src/tasks/task-runtime.suite.ts';
import type { TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { OptionsSchema } from '../../packages/shim/src/gen/containerd/runc/v1/options_pb.js';
import type { ShimProgram } from '../../packages/shim/src/shim-program.ts';
import { Shims } from '../../packages/shim/src/shims.ts';
import { ProcessStarter } from '../../packages/system/src/process-starter.ts';
import { ociFastPaths } from '../fixtures/fast-paths.ts';

const applets =
  'sh sleep echo cat ls id true false stty tty mkdir head tail yes ps wc kill setsid dd env test od seq'.split(' ');

/** A test's own scratch directory, cgroup parent and BusyBox root file system. */
export type Scratch = {
  directory: string;
  rootfs: string;
  cgroupParent: string;
  /** Settles once the shims that were closed last have released their socket. */
  closing?: Promise<void>;
  remove(): Promise<void>;
};

export function makeScratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'tasks-test-'));
  const rootfs = join(directory, 'rootfs');
  for (const name of ['bin', 'etc', 'proc', 'sys', 'dev', 'tmp']) mkdirSync(join(rootfs, name), { recursive: true });
  copyFileSync(findProgram('busybox'), join(rootfs, 'bin/busybox'));
  for (const applet of applets) symlinkSync('busybox', join(rootfs, 'bin', applet));
  const cgroupParent = `/tasks-test-${randomBytes(4).toString('hex')}`;
  const remove = async () => {
    await scratch.closing;
    const cgroups = await discoverCgroups();
    await killCgroup(cgroups, cgroupParent);
    await removeCgroup(cgroups, cgroupParent);
    rmSync(directory, { recursive: true, force: true });
  };
  const scratch: Scratch = { directory, rootfs, cgroupParent, remove };
  return scratch;
}

/** Returns the path of a program required by the test; throws if it is not installed. */
export function findProgram(name: string): string {
  const found = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`this test needs ${name}`);
  return found;
}

export async function openTasks(
  scratch: Scratch,
  program: OciProgram,
  options: Partial<OciTaskRuntimeOptions> = {},
): Promise<OciTaskRuntime> {
  return await OciTaskRuntime.open({
    state: join(scratch.directory, 'state'),
    conmon: findProgram('conmon'),
    program,
    handlers: {},
    cgroups: await discoverCgroups(),
    start: new ProcessStarter().start,
    logger: silentLogger,
    fastPaths: ociFastPaths,
    ...options,
  });
}

/** Returns the harness that the task runtimes' contract suite needs for an OCI runtime. */
export async function taskHarness(
  program: (scratch: Scratch, fastPaths?: OciFastPaths) => Promise<OciProgram>,
  fastPaths = ociFastPaths,
): Promise<TaskRuntimeHarness> {
  const scratch = makeScratch();
  const chosen = await program(scratch, fastPaths);
  return { ...harnessIn(scratch), open: () => openTasks(scratch, chosen, { fastPaths }), remove: scratch.remove };
}

/** Returns the harness that the task runtimes' contract suite needs for a shim. */
export async function shimHarness(): Promise<TaskRuntimeHarness> {
  const scratch = makeScratch();
  return { ...harnessIn(scratch), open: () => openShims(scratch), remove: scratch.remove };
}

/** Opens a task runtime that uses shims, with its own event server and connections. */
export async function openShims(scratch: Scratch): Promise<TaskRuntime> {
  await scratch.closing;
  const shims = await Shims.open({ state: join(scratch.directory, 'shims'), logger: silentLogger });
  const tasks = await openShimTasks(scratch, shims);
  const close = tasks.close.bind(tasks);
  return Object.assign(tasks, {
    close: () => {
      close();
      scratch.closing = shims.close();
    },
  });
}

export async function openShimTasks(scratch: Scratch, shims: Shims): Promise<ShimTaskRuntime> {
  return await ShimTaskRuntime.open({
    state: join(scratch.directory, 'shim-tasks'),
    shims,
    handlers: { '': shimProgram(scratch), boxed: shimProgram(scratch) },
    cgroups: await discoverCgroups(),
    logger: silentLogger,
  });
}

function harnessIn(scratch: Scratch): Omit<TaskRuntimeHarness, 'open' | 'remove'> {
  return {
    config: (id, args, { memoryLimitBytes, ...changes } = {}) => {
      const spec = testSpec(scratch, id, args);
      spec.process.terminal = changes.terminal ?? false;
      if (memoryLimitBytes !== undefined)
        spec.linux.resources = { memory: { limit: memoryLimitBytes, swap: memoryLimitBytes } };
      const bundle = join(scratch.directory, 'bundles', id);
      const logPath = join(scratch.directory, `${id}.log`);
      return { id, bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath, handler: '', ...changes };
    },
    mark: newMark(),
    processesWith,
  };
}

export const runc: OciProgram = { name: 'runc', path: findProgram('runc'), stateFormat: 'runc' };

/** Returns the host's containerd-shim-runc-v2, or the shim at `PODWRIGHT_TEST_SHIM`, with runc's state in the scratch directory. */
export function shimProgram({ directory }: Scratch): ShimProgram {
  const options = create(OptionsSchema, { root: join(directory, 'runc') });
  const value = Buffer.from(toBinary(OptionsSchema, options)).toString('base64');
  const path = process.env.PODWRIGHT_TEST_SHIM ?? findProgram('containerd-shim-runc-v2');
  return { path, options: { typeUrl: OptionsSchema.typeName, value } };
}

/** Returns a small spec that runs `args` in the scratch root file system. */
export function testSpec(scratch: Scratch, id: string, args: string[]): OciSpec {
  return {
    ociVersion: '1.0.2',
    process: { terminal: false, user: { uid: 0, gid: 0 }, args, env: ['PATH=/bin', 'HOME=/'], cwd: '/' },
    root: { path: scratch.rootfs, readonly: false },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      {
        destination: '/dev/pts',
        type: 'devpts',
        source: 'devpts',
        options: ['newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
      },
    ],
    linux: {
      namespaces: (['pid', 'ipc', 'uts', 'mount', 'network'] as const).map((type) => ({ type })),
      cgroupsPath: `${scratch.cgroupParent}/${id}`,
      resources: {},
    },
  };
}

/** Returns a unique number to pass to `sleep`, which makes it possible to find its processes. */
export function newMark(): string {
  return `98${randomInt(1e6, 1e7)}`;
}

/** Returns the processes whose command line contains `text`, for leak checks. */
export function processesWith(text: string): string[] {
  const all = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes(text) && !line.includes('ps -eo'));
}

/** Returns a crun that works on this host, in a wrapper if needed. */
export async function workingCrun({ directory, cgroupParent }: Scratch, fastPaths = ociFastPaths): Promise<OciProgram> {
  const cgroups = await discoverCgroups();
  const { bootId } = await readKernelAbilities(cgroups);
  const place = join(directory, 'probe');
  const finding = await probeOciRuntime('crun', {
    directory: place,
    cacheDirectory: place,
    cgroupParent,
    cgroups,
    bootId,
    fastPaths,
  });
  assert.ok(finding?.works, JSON.stringify(finding));
  return finding.program;
}

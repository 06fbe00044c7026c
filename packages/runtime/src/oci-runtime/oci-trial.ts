import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, PRIVATE_DIRECTORY, PRIVATE_FILE, silentLogger, wrapError } from '@podwright/base';
import { type CgroupHierarchy, killCgroup, removeCgroup, startByFork } from '@podwright/host';
import type { OciMount, OciSpec } from '@podwright/oci';
import { grantTraversal, type IdMappings, loadSystem, type NamespaceDependencies } from '@podwright/system';
import { startedByOthers, startedHere } from './covered-call.ts';
import { TRIAL_CREATE_TIMEOUT_MS } from './limits.ts';
import { globalArguments, type OciProgram, type OciRuntime, runOciCommand } from './oci-program.ts';
import { runtimeError } from './runtime-error.ts';
import { readStateFiles, type StateFormat } from './state-files.ts';

export type OciTrialOptions = {
  /** Directory for the trial's files. */
  directory: string;
  /** Parent of the trial container's cgroup. */
  cgroupParent: string;
  cgroups: CgroupHierarchy;
};

/** Variations of a trial. `change` modifies the container's OCI spec; `check` inspects the running container. */
export type OciTrial = {
  change?: (spec: OciSpec) => OciSpec;
  check?: (pid: number) => Promise<void>;
  /** ID mappings of the container's user namespace, if it has one. */
  users?: IdMappings;
  /** State file format that the trial verifies. */
  expected?: StateFormat | undefined;
  /** Whether to exec a second process too, which doubles the trial's duration. Default: true. */
  enter?: boolean;
};

/** Result of a successful trial. `stateFormat` is the verified state file format. */
export type OciTrialResult = { stateFormat?: StateFormat };

/**
 * Creates, starts, execs into (unless `enter` is false) and deletes a real container running the host's own programs, because an OCI
 * runtime cannot report whether it works on this host. Rejects with the OCI runtime's error message.
 */
export async function tryOciProgram(
  program: OciProgram,
  options: OciTrialOptions,
  { change = (spec) => spec, check, users, enter = true, expected }: OciTrial = {},
): Promise<OciTrialResult> {
  await mkdir(options.directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  const bundle = await mkdtemp(join(options.directory, 'trial-'));
  if (users !== undefined) grantTraversal({ top: dirname(options.directory), directory: bundle, mappings: users });
  const id = `podwright-${basename(bundle)}`;
  const cgroupsPath = join(options.cgroupParent, id);
  const runtime = { ...program, root: join(bundle, 'state') };
  const namespaces = { system: loadSystem(), logger: silentLogger };
  try {
    const mounts = await prepareRootfs(join(bundle, 'rootfs'));
    await writeFile(join(bundle, 'config.json'), JSON.stringify(change(trialSpec(bundle, mounts, cgroupsPath))), {
      mode: PRIVATE_FILE,
    });
    const pid = await createDetached(runtime, { bundle, id }, namespaces);
    const waits = () => readStateFiles({ root: runtime.root, stateFormat: expected }, id)?.waitsForStart;
    const waited = waits();
    await runOciCommand(runtime, ['start', id]);
    const stateFormat = waited === true && waits() === false ? expected : undefined;
    if (enter) await enterTrial(runtime, id, namespaces);
    await check?.(pid);
    await runOciCommand(runtime, ['delete', '--force', id]);
    return stateFormat === undefined ? {} : { stateFormat };
  } catch (error) {
    await runOciCommand(runtime, ['delete', '--force', id]).catch(() => undefined);
    throw wrapError(`try ${program.name}`, error);
  } finally {
    await killCgroup(options.cgroups, cgroupsPath);
    await removeCgroup(options.cgroups, cgroupsPath);
    await removeTrial(bundle);
  }
}

/**
 * Runs `create` with a file as stdio, and returns the container's PID. With a pipe, reading the output would not finish as long as the
 * container is running. With /dev/null, crun would change the owner of the host's device to the root of the trial's user namespace.
 */
async function createDetached(
  runtime: OciRuntime,
  { bundle, id }: { bundle: string; id: string },
  namespaces: NamespaceDependencies,
): Promise<number> {
  const log = join(bundle, 'stderr');
  const pidFile = join(bundle, 'pid');
  const stderr = await open(log, 'w');
  try {
    using call = startedByOthers(runtime, namespaces);
    const args = [...globalArguments(call.program), 'create', '--bundle', bundle, '--pid-file', pidFile, id];
    const child = spawn(call.program.path, args, {
      stdio: [stderr.fd, stderr.fd, stderr.fd],
      timeout: TRIAL_CREATE_TIMEOUT_MS,
    });
    const [exitCode] = await once(child, 'exit');
    if (exitCode !== 0) throw runtimeError(`${runtime.name} create`, await readFile(log, 'utf8'));
    return Number(await readFile(pidFile, 'utf8'));
  } finally {
    await stderr.close();
  }
}

async function enterTrial(runtime: OciRuntime, id: string, namespaces: NamespaceDependencies): Promise<void> {
  using call = startedHere({ program: runtime, start: startByFork }, namespaces);
  await runOciCommand(call.program, ['exec', id, '/bin/sh', '-c', ':'], call.start);
}

/**
 * Creates a root file system containing the host's programs: copies the host's symbolic links, and returns read-only mounts for its
 * directories.
 */
async function prepareRootfs(rootfs: string): Promise<OciMount[]> {
  const mounts: OciMount[] = [];
  for (const name of ['proc', 'dev']) await mkdir(join(rootfs, name), { recursive: true, mode: CONTAINER_DIRECTORY });
  for (const name of ['bin', 'lib', 'lib64', 'usr', 'nix']) {
    const target = await readlink(`/${name}`).catch((error: NodeJS.ErrnoException) => error);
    if (typeof target === 'string') await symlink(target, join(rootfs, name));
    else if (target.code === 'EINVAL') {
      await mkdir(join(rootfs, name), { mode: CONTAINER_DIRECTORY });
      mounts.push({ destination: `/${name}`, type: 'bind', source: `/${name}`, options: ['bind', 'ro'] });
    }
  }
  return mounts;
}

/**
 * Removes the trial's files. The root file system is not removed recursively, in case it still contains a leftover mount of the host's
 * programs.
 */
async function removeTrial(bundle: string): Promise<void> {
  const rootfs = join(bundle, 'rootfs');
  for (const entry of await readdir(rootfs, { withFileTypes: true }).catch(() => []))
    await (entry.isDirectory() ? rmdir : unlink)(join(rootfs, entry.name));
  await rmdir(rootfs).catch(() => undefined);
  await rm(join(bundle, 'state'), { recursive: true, force: true });
  for (const name of ['config.json', 'stderr', 'pid']) await rm(join(bundle, name), { force: true });
  await rmdir(bundle);
}

function trialSpec(bundle: string, mounts: OciMount[], cgroupsPath: string): OciSpec {
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: ['/bin/sh', '-c', 'sleep 60'],
      env: ['PATH=/bin:/usr/bin'],
      cwd: '/',
    },
    root: { path: join(bundle, 'rootfs'), readonly: false },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...mounts,
    ],
    linux: {
      namespaces: (['pid', 'mount', 'network', 'ipc', 'uts'] as const).map((type) => ({ type })),
      cgroupsPath,
      resources: { memory: { limit: 64 << 20 }, pids: { limit: 16 } },
    },
  };
}

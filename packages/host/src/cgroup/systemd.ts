/**
 * Calls to systemd, which manages the cgroups on most hosts. Made with systemd's own command-line tools, because calls are so rare that the
 * cost of starting a program does not matter.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, isErrno, type Logger, PodwrightError } from '@podwright/base';
import { type ProgramResult, runProgram } from '../programs/program.ts';
import { type CgroupHierarchy, type CgroupMode, cgroupDirectory } from './hierarchy.ts';
import { scopeOf, slicePath } from './slice.ts';
import { cgroupExists, cgroupPids, killCgroup, removeCgroup } from './tree.ts';

/**
 * Where this process's cgroups may be. `cgroupfs`: anywhere in the cgroup hierarchy. `systemd`: only under a unit that systemd has
 * delegated to it.
 */
export type CgroupDriver = 'cgroupfs' | 'systemd';

/** Timeout for starting or stopping a unit, which might have to wait for other systemd jobs. */
const UNIT_TIMEOUT_MS = 30_000;

/** systemd's value for "no limit" (`infinity`). */
const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/**
 * Children of the delegated cgroup: one for the keeper process and one for the pods, because only leaf cgroups may contain processes
 * (cgroup-v2.rst).
 */
const [KEEPER, PODS] = ['keeper', 'pods'];

/** Whether systemd is PID 1 here (sd_booted(3)). /run/systemd alone does not prove it: inside a container, it might be the host's. */
export function isSystemdHost(): boolean {
  return existsSync('/run/systemd/system') && readFileSync('/proc/1/comm', 'utf8').trim() === 'systemd';
}

/** Returns the reason why the systemd cgroup driver cannot work on this host; `undefined` if it can. */
export function systemdObstacle(host: { systemd: boolean; mode: CgroupMode }): string | undefined {
  if (!host.systemd) return 'systemd is not the init process here';
  if (host.mode !== 'v2')
    return `this host has cgroup ${host.mode === 'v1' ? 'v1' : 'v1 and v2'}, where systemd cannot delegate cgroups safely; boot it with cgroup v2 only`;
  return undefined;
}

/**
 * Returns the name of the systemd service that a node's pod cgroups are delegated to. `parent` is the node's `cgroup_parent`, which must
 * differ between nodes on the same host. Throws `invalid_argument` if it does not yield a valid unit name.
 */
export function delegatedUnit(parent: string): string {
  const unit = `${[...parent.split('/').filter((name) => name !== ''), 'pods'].join('-')}.service`;
  if (/^[\w:.-]{1,255}$/.test(unit)) return unit;
  throw new PodwrightError(
    'invalid_argument',
    `name a unit after the cgroup ${JSON.stringify(parent)}: it may have only letters, digits and : . _ - /`,
  );
}

/**
 * Makes systemd delegate a subtree of the cgroup hierarchy, unless it already has, and returns the path of the pods' parent cgroup in it.
 * systemd does not change or remove cgroups under that path, not even on a daemon-reload. The unit is a service that runs a sleeping
 * process, which outlives this process; a scope would vanish when the last pod terminates. Stopping the service kills only the sleeping
 * process, not the pods. systemd then cannot start the service again until all pods have terminated; until then, both existing and new pods
 * use the service's old cgroup.
 */
export async function delegateCgroup(hierarchy: CgroupHierarchy, unit: string, logger: Logger): Promise<string> {
  const path = (await delegatedPath(unit)) ?? (await startDelegated(hierarchy, unit, logger));
  const [directory] = hierarchy.trees.map((tree) => cgroupDirectory(tree, path));
  if (directory === undefined) throw new PodwrightError('failed_precondition', 'delegate a cgroup: no tree is mounted');
  await mkdir(join(directory, KEEPER), { recursive: true, mode: CONTAINER_DIRECTORY });
  await moveProcesses(directory, join(directory, KEEPER));
  return `${path}/${PODS}`;
}

/** Undoes `delegateCgroup`. `pods` is the path that it returned. The cgroup must not contain any processes. The unit need not be loaded. */
export async function endDelegation(hierarchy: CgroupHierarchy, pods: string): Promise<void> {
  const path = dirname(pods);
  await stopUnit(basename(path));
  await systemctl('reset-failed', basename(path));
  await removeCgroup(hierarchy, path);
}

/** A slice's limits, by systemd property name (org.freedesktop.systemd1(5)). `undefined` means unlimited. */
export type SliceProperties = {
  CPUWeight?: bigint;
  /** CPU quota: microseconds of CPU time per second. */
  CPUQuotaPerSecUSec?: bigint | undefined;
  CPUQuotaPeriodUSec?: bigint;
  /** Memory that is never reclaimed (`MemoryMin`), or reclaimed only if nothing else can be (`MemoryLow`). */
  MemoryMin?: bigint;
  MemoryLow?: bigint;
  MemoryMax?: bigint | undefined;
  TasksMax?: bigint | undefined;
};

/** Creates a slice with the given limits, or updates the limits of an existing slice. */
export async function setSlice(slice: string, properties: SliceProperties): Promise<void> {
  const values = Object.entries(properties).flatMap(([name, value]) => [name, 't', String(value ?? UNLIMITED)]);
  const list = [String(values.length / 3), ...values];
  const started = await callManager('StartTransientUnit', 'ssa(sv)a(sa(sv))', [slice, 'replace', ...list, '0']);
  if (started.exitCode === 0) return;
  const { exitCode, stderr } = await callManager('SetUnitProperties', 'sba(sv)', [slice, 'true', ...list]);
  if (exitCode !== 0)
    throw new PodwrightError(
      'internal',
      `limit ${slice}: ${stderr.trim() || exitCode}; create it: ${started.stderr.trim() || started.exitCode}`,
    );
}

/** Stops a slice whose processes have all exited. Not an error if the slice does not exist. */
export async function endSlice(hierarchy: CgroupHierarchy, slice: string): Promise<void> {
  if (await cgroupExists(hierarchy, slicePath(slice))) await stopUnit(slice);
}

/**
 * Whether scopes support `OOMPolicy`, as they do since systemd 253 and in Debian's later builds of 252. Older versions refuse to create a
 * scope with that property. Queries `init.scope`, which always exists.
 */
export async function takesScopeOomPolicy(): Promise<boolean> {
  const { stdout } = await systemctl('show', '--property=OOMPolicy', 'init.scope');
  return stdout.startsWith('OOMPolicy=');
}

/** Stops a unit, which also removes its cgroup if that is empty. Not an error if the unit is not loaded. */
async function stopUnit(unit: string): Promise<void> {
  const { exitCode, stderr } = await systemctl('stop', unit);
  if (exitCode !== 0 && !stderr.includes('not loaded'))
    throw new PodwrightError('internal', `stop ${unit}: ${stderr.trim() || `systemctl ended with ${exitCode}`}`);
}

/**
 * Kills the processes in a container's scope and stops the scope, which systemd would otherwise stop only some time after the last process
 * exits. The caller must not remove the scope's cgroup, or systemd would not notice that it became empty. Does nothing if the cgroup is not
 * a scope.
 */
export async function endScope(hierarchy: CgroupHierarchy, path: string): Promise<void> {
  const scope = scopeOf(path);
  if (scope === undefined || !(await cgroupExists(hierarchy, path))) return;
  await killCgroup(hierarchy, path);
  await stopUnit(scope);
}

async function startDelegated(hierarchy: CgroupHierarchy, unit: string, logger: Logger): Promise<string> {
  const former = `/${unit}`;
  const pids = await cgroupPids(hierarchy, former, { recursive: true });
  if (pids.length === 0) await removeCgroup(hierarchy, former); // systemd cannot start a process in a cgroup that has children
  await systemctl('reset-failed', unit);
  const { exitCode, stderr } = await startKeeper(unit);
  const path = await delegatedPath(unit); // succeeds even if another Podwright process started the unit first
  if (path !== undefined) return path;
  const reason = `start ${unit}: ${stderr.trim() || `systemd-run: ${exitCode}`}`;
  if (pids.length === 0) throw new PodwrightError('failed_precondition', reason);
  logger.warn(
    { unit, error: reason },
    'the unit of the pods was stopped and cannot start again until all pods have ended',
  );
  return former;
}

/**
 * Returns the unit's cgroup; `undefined` if the unit is not active. Rejects with `failed_precondition` if the unit was not created by
 * Podwright.
 */
async function delegatedPath(unit: string): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await systemctl('show', '--property=ActiveState,Delegate,ControlGroup', unit);
  if (exitCode !== 0) throw new PodwrightError('unavailable', `ask systemd for ${unit}: ${stderr.trim() || exitCode}`);
  const values = Object.fromEntries(stdout.split('\n').map((line) => line.split('=')));
  if (values.ActiveState !== 'active') return undefined;
  if (values.Delegate === 'yes' && values.ControlGroup?.startsWith('/')) return values.ControlGroup;
  throw new PodwrightError(
    'failed_precondition',
    `use ${unit}: a unit of this name exists that Podwright did not create; set another cgroup_parent`,
  );
}

/**
 * Starts the keeper service. Its properties override the host's default limits for services, and keep systemd from stopping all pods when
 * one of them is OOM-killed.
 */
async function startKeeper(unit: string): Promise<ProgramResult> {
  const properties = [
    'Delegate=yes',
    'KillMode=process',
    'OOMPolicy=continue',
    'OOMScoreAdjust=-1000',
    'TasksMax=infinity',
  ];
  return await run('systemd-run', [
    ...['--quiet', `--unit=${unit}`, '--slice=-.slice', '--service-type=exec', '--description=Pods of Podwright'],
    ...properties.map((property) => `--property=${property}`),
    ...['sleep', 'infinity'],
  ]);
}

async function moveProcesses(from: string, to: string): Promise<void> {
  for (const pid of (await readFile(join(from, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean)) {
    try {
      await writeFile(join(to, 'cgroup.procs'), pid);
    } catch (error) {
      if (!isErrno(error, 'ESRCH')) throw error;
    }
  }
}

/** Calls a method of org.freedesktop.systemd1.Manager. `signature` and `args` are in busctl(1) syntax. */
function callManager(method: string, signature: string, args: string[]): Promise<ProgramResult> {
  const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];
  return run('busctl', ['--quiet', 'call', ...manager, method, signature, ...args]);
}

const systemctl = (...args: string[]) => run('systemctl', args);

function run(program: string, args: string[]): Promise<ProgramResult> {
  return runProgram(program, args, { signal: AbortSignal.timeout(UNIT_TIMEOUT_MS) });
}

/** What is asked of systemd, which manages the cgroups of most hosts: by its own programs, as it is rarely asked. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno, PodwrightError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { CONTAINER_DIRECTORY } from '../modes.ts';
import { type ProgramResult, runProgram } from '../program.ts';
import { type CgroupHierarchy, type CgroupMode, cgroupDirectory } from './hierarchy.ts';
import { scopeOf, slicePath } from './slice.ts';
import { cgroupExists, cgroupPids, killCgroup, removeCgroup } from './tree.ts';

/** Who makes cgroups: we ourselves anywhere in the tree, or systemd, which has us only where it has delegated a part of it. */
export type CgroupDriver = 'cgroupfs' | 'systemd';

/** A start of a unit waits for other jobs of systemd's. */
const UNIT_TIMEOUT_MS = 30_000;

/** What systemd has for no limit. */
const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/** In the delegated cgroup: processes may be in cgroups without others below them alone (cgroup-v2.rst). */
const [KEEPER, PODS] = ['keeper', 'pods'];

/** Whether systemd is the init process here (sd_booted(3)), and not only that of the host of a container that we are in. */
export function isSystemdHost(): boolean {
  return existsSync('/run/systemd/system') && readFileSync('/proc/1/comm', 'utf8').trim() === 'systemd';
}

/** Why the systemd driver cannot work on such a host; `undefined` if it can. */
export function systemdObstacle(host: { systemd: boolean; mode: CgroupMode }): string | undefined {
  if (!host.systemd) return 'systemd is not the init process here';
  if (host.mode !== 'v2')
    return `this host has cgroup ${host.mode === 'v1' ? 'v1' : 'v1 beside v2'}, where systemd delegates nothing safely; boot it with cgroup v2 alone`;
  return undefined;
}

/**
 * The service that has the cgroups of a node's pods delegated; `parent` is the node's `cgroup_parent`, which is to tell several nodes
 * apart. `invalid_argument` if no unit can have such a name.
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
 * Has systemd delegate a part of the cgroup tree, unless it has already, and returns the path of the cgroup for pods in it. Below
 * that all cgroups are ours: systemd neither changes nor removes any, whatever is reloaded. A process that sleeps keeps the service,
 * which outlives us; of a scope nothing would be left once the last pod ends. The end of the service ends that process alone, and no
 * pod. systemd cannot start it again before they end; so long they, and new ones, are in its cgroup as it was left.
 */
export async function delegateCgroup(hierarchy: CgroupHierarchy, unit: string, logger: Logger): Promise<string> {
  const path = (await delegatedPath(unit)) ?? (await startDelegated(hierarchy, unit, logger));
  const [directory] = hierarchy.trees.map((tree) => cgroupDirectory(tree, path));
  if (directory === undefined) throw new PodwrightError('failed_precondition', 'delegate a cgroup: no tree is mounted');
  await mkdir(join(directory, KEEPER), { recursive: true, mode: CONTAINER_DIRECTORY });
  await moveProcesses(directory, join(directory, KEEPER));
  return `${path}/${PODS}`;
}

/** Gives back what `delegateCgroup` returned, once no process is in it any more, whether systemd still knows of it or not. */
export async function endDelegation(hierarchy: CgroupHierarchy, pods: string): Promise<void> {
  const path = dirname(pods);
  await stopUnit(basename(path));
  await systemctl('reset-failed', basename(path));
  await removeCgroup(hierarchy, path);
}

/** Limits of a slice as systemd calls them (org.freedesktop.systemd1(5)); what is absent has none. */
export type SliceProperties = {
  CPUWeight?: bigint;
  /** Microseconds of CPU time in each second. */
  CPUQuotaPerSecUSec?: bigint | undefined;
  CPUQuotaPeriodUSec?: bigint;
  /** Memory that is kept in any case, and as long as there is other memory to take. */
  MemoryMin?: bigint;
  MemoryLow?: bigint;
  MemoryMax?: bigint | undefined;
  TasksMax?: bigint | undefined;
};

/** Makes a slice with its limits, or changes those of one that is there. */
export async function setSlice(slice: string, properties: SliceProperties): Promise<void> {
  const values = Object.entries(properties).flatMap(([name, value]) => [name, 't', String(value ?? UNLIMITED)]);
  const list = [String(values.length / 3), ...values];
  const started = await callManager('StartTransientUnit', 'ssa(sv)a(sa(sv))', [slice, 'replace', ...list, '0']);
  if (started.exitCode === 0) return;
  const { exitCode, stderr } = await callManager('SetUnitProperties', 'sba(sv)', [slice, 'true', ...list]);
  if (exitCode !== 0)
    throw new PodwrightError(
      'internal',
      `limit ${slice}: ${stderr.trim() || exitCode}; to make it: ${started.stderr.trim() || started.exitCode}`,
    );
}

/** Ends a slice that has no processes any more. No error if there is none. */
export async function endSlice(hierarchy: CgroupHierarchy, slice: string): Promise<void> {
  if (await cgroupExists(hierarchy, slicePath(slice))) await stopUnit(slice);
}

/**
 * Whether scopes may have an `OOMPolicy`: from systemd 253 on, and in later ones of Debian's 252. Others refuse to make one that has.
 * Asked of a scope that is always there.
 */
export async function takesScopeOomPolicy(): Promise<boolean> {
  const { stdout } = await systemctl('show', '--property=OOMPolicy', 'init.scope');
  return stdout.startsWith('OOMPolicy=');
}

/** Ends a unit, and its cgroup with it if nothing else is in that. No error if there is none. */
async function stopUnit(unit: string): Promise<void> {
  const { exitCode, stderr } = await systemctl('stop', unit);
  if (exitCode !== 0 && !stderr.includes('not loaded'))
    throw new PodwrightError('internal', `stop ${unit}: ${stderr.trim() || `systemctl ended with ${exitCode}`}`);
}

/**
 * Kills what is in a container's scope and has systemd end that, which it does by itself some time after the last process. Nobody
 * else is to remove its cgroup: systemd would not notice any more that it is empty. Other cgroups are left alone.
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
  if (pids.length === 0) await removeCgroup(hierarchy, former); // with cgroups in it, no process could be started there
  await systemctl('reset-failed', unit);
  const { exitCode, stderr } = await startKeeper(unit);
  const path = await delegatedPath(unit); // also when another process of ours was faster
  if (path !== undefined) return path;
  const reason = `start ${unit}: ${stderr.trim() || `systemd-run: ${exitCode}`}`;
  if (pids.length === 0) throw new PodwrightError('failed_precondition', reason);
  logger.warn({ unit, error: reason }, 'the unit of the pods was ended, and cannot start before they have ended');
  return former;
}

/** The unit's cgroup while it is active; `failed_precondition` for a unit of somebody else. */
async function delegatedPath(unit: string): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await systemctl('show', '--property=ActiveState,Delegate,ControlGroup', unit);
  if (exitCode !== 0) throw new PodwrightError('unavailable', `ask systemd for ${unit}: ${stderr.trim() || exitCode}`);
  const values = Object.fromEntries(stdout.split('\n').map((line) => line.split('=')));
  if (values.ActiveState !== 'active') return undefined;
  if (values.Delegate === 'yes' && values.ControlGroup?.startsWith('/')) return values.ControlGroup;
  throw new PodwrightError(
    'failed_precondition',
    `use ${unit}: there is a unit of this name that is not ours; set another cgroup_parent`,
  );
}

/** Limits of services in general are not for pods, and neither is the end of one of them for all the others. */
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

/** Calls org.freedesktop.systemd1.Manager with arguments of this signature, as busctl(1) takes them. */
function callManager(method: string, signature: string, args: string[]): Promise<ProgramResult> {
  const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];
  return run('busctl', ['--quiet', 'call', ...manager, method, signature, ...args]);
}

const systemctl = (...args: string[]) => run('systemctl', args);

function run(program: string, args: string[]): Promise<ProgramResult> {
  return runProgram(program, args, { signal: AbortSignal.timeout(UNIT_TIMEOUT_MS) });
}

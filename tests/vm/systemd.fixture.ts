/** Helpers to inspect and control the guest's systemd. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';

const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });

export const readCgroup = (path: string, file: string) =>
  readFileSync(join('/sys/fs/cgroup', path, file), 'utf8').trim();

export const cgroupOf = (pid: number | 'self') =>
  readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().slice('0::'.length);

/** Returns the processes in the cgroup and its descendants. */
export function pidsBelow(path: string): number[] {
  const below = readdirSync(join('/sys/fs/cgroup', path), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const own = readCgroup(path, 'cgroup.procs').split('\n').filter(Boolean).map(Number);
  return [...own, ...below.flatMap(({ name }) => pidsBelow(join(path, name)))];
}

/** Returns the scopes, slices and services, in any state, whose names contain `part`. */
export function unitsWith(part: string): string[] {
  const lines = run('systemctl', 'list-units', '--all', '--plain', '--no-legend', '--type=scope,slice,service').split(
    '\n',
  );
  return lines.map((line) => line.trim().split(/\s+/)[0]!).filter((unit) => unit.includes(part));
}

/** Reloads systemd, then starts and stops a unit, so that work deferred by the reload (writing cgroup files) is done. */
export function reloadSystemd(): void {
  run('systemctl', 'daemon-reload');
  run('systemd-run', '--quiet', '--wait', 'true');
}

export const stopUnits = (...units: string[]) => run('systemctl', 'stop', ...units);

/** Returns the number of jobs that systemd has executed. Every start or stop of a unit is one. */
export const countJobs = () => Number(run('systemctl', 'show', '--property=NInstalledJobs', '--value'));

/** Creates a pod's slice like upstream's kubelet with its systemd driver (libcontainer, systemd/v2.go); returns its path. */
export function makePodSlice(uid: string): string {
  const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];
  const slice = `kubepods-burstable-pod${uid}.slice`;
  const properties = ['MemoryMax', 't', String(256 << 20), 'TasksMax', 't', '200', 'CPUWeight', 't', '50'];
  run(
    'busctl',
    'call',
    ...manager,
    'StartTransientUnit',
    'ssa(sv)a(sa(sv))',
    slice,
    'replace',
    '3',
    ...properties,
    '0',
  );
  return `/kubepods.slice/kubepods-burstable.slice/${slice}`;
}

/** Records all D-Bus calls to systemd while `work` runs. */
export async function messagesDuring(work: () => Promise<unknown>): Promise<string[]> {
  const monitor: ChildProcess = spawn('busctl', ['monitor', 'org.freedesktop.systemd1']);
  let [seen, said] = ['', ''];
  monitor.stdout!.on('data', (chunk) => (seen += chunk));
  monitor.stderr!.on('data', (chunk) => (said += chunk));
  const until = (what: () => boolean) =>
    waitFor(() => what() || undefined, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
  try {
    await until(() => said.includes('Monitoring bus message stream'));
    await work();
    // messages arrive in order: once this one is recorded, so are all earlier ones
    run('busctl', 'get-property', 'org.freedesktop.systemd1', '/org/freedesktop/systemd1', MANAGER, 'Version');
    await until(() => seen.includes('"Version"'));
  } finally {
    monitor.kill();
    await once(monitor, 'exit');
  }
  const heads = seen.split('\n\n').filter((message) => message.includes('Type=method_call'));
  const members = heads.map((message) => /Interface=(\S+) .*Member=(\S+)/.exec(message)?.slice(1).join('.') ?? message);
  return members.filter((member) => member !== 'org.freedesktop.DBus.Properties.Get');
}

const MANAGER = 'org.freedesktop.systemd1.Manager';

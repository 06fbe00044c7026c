/** Functions to inspect and control the guest's systemd. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';

const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });

/** Reads one file of a cgroup. */
export const readCgroup = (path: string, file: string) =>
  readFileSync(join('/sys/fs/cgroup', path, file), 'utf8').trim();

/** The cgroup of a process. */
export const cgroupOf = (pid: number | 'self') =>
  readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().slice('0::'.length);

/** The processes in the cgroup and below it. */
export function pidsBelow(path: string): number[] {
  const below = readdirSync(join('/sys/fs/cgroup', path), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const own = readCgroup(path, 'cgroup.procs').split('\n').filter(Boolean).map(Number);
  return [...own, ...below.flatMap(({ name }) => pidsBelow(join(path, name)))];
}

/** Units with processes, in any state, whose names contain `part`; without mount units. */
export function unitsWith(part: string): string[] {
  const lines = run('systemctl', 'list-units', '--all', '--plain', '--no-legend', '--type=scope,slice,service').split(
    '\n',
  );
  return lines.map((line) => line.trim().split(/\s+/)[0]!).filter((unit) => unit.includes(part));
}

/** Reloads systemd, and starts and stops a unit, so that deferred work of the reload (writing files of cgroups) is done. */
export function reloadSystemd(): void {
  run('systemctl', 'daemon-reload');
  run('systemd-run', '--quiet', '--wait', 'true');
}

export const stopUnits = (...units: string[]) => run('systemctl', 'stop', ...units);

/** Number of jobs that systemd has executed: every start and stop of a unit is one. */
export const countJobs = () => Number(run('systemctl', 'show', '--property=NInstalledJobs', '--value'));

/** Creates a pod's slice as upstream's kubelet does with its systemd driver (libcontainer, systemd/v2.go), and returns its path. */
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

/** Records all D-Bus calls of systemd while `work` runs. */
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
    // messages arrive in order: once this one is recorded, all earlier ones are too
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

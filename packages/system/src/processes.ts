import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { EventLoopBudget, isErrno, PodwrightError, sleep } from '@podwright/base';
import {
  findProcesses,
  isInOwnPidNamespace,
  listProcesses,
  parseProcessStart,
  readProcessStart,
} from '@podwright/host';

/** A process as described in /proc/PID/stat (proc_pid_stat(5)). */
export type ProcessStat = {
  pid: number;
  state: string;
  parent: number;
  session: number;
  /** Start time in ticks since boot. PIDs are reused, but the combination of PID and start time is unique. */
  startTicks: number;
};

/** Reads a process's stat file; `undefined` if the process does not exist. */
export function readProcess(pid: number): ProcessStat | undefined {
  const text = readProcFile(pid, 'stat');
  if (text === undefined) return undefined;
  // The command name is enclosed in parentheses and can contain spaces and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0] ?? 'X',
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
  };
}

/**
 * Reads a /proc/PID file that the kernel generates without accessing the process's memory. Returns `undefined` if the process has exited.
 */
function readProcFile(pid: number, name: 'stat' | 'cgroup'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ESRCH')) throw error;
    return undefined;
  }
}

/** Returns the first arguments of a process's command line; empty if the process has exited. */
export async function readCommandLine(pid: number): Promise<string[]> {
  return parseProcessStart(await readProcessStart(pid, 'cmdline'));
}

/**
 * Finds the host's processes whose command line contains `part` near its start and satisfies `matches`. Only command lines that contain
 * `part` are split into arguments. Excludes processes in other PID namespaces.
 */
export function findByCommandLine(part: string, matches: (argv: string[]) => boolean): Promise<number[]> {
  return findProcesses(async (pid) => {
    if (!(await isInOwnPidNamespace(pid))) return false;
    const start = await readProcessStart(pid, 'cmdline');
    return start.includes(part) && matches(parseProcessStart(start));
  });
}

/** Sends a signal. Returns false if the process has exited. */
export function signalProcess(pid: number, signal: number): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false;
    throw error;
  }
}

/**
 * Returns the number of a signal given by name (`TERM`, `SIGTERM`, `SIGRTMIN+3`) or number, as in images and the CRI. Throws
 * `invalid_argument` if the signal is unknown.
 */
export function signalNumber(signal: string): number {
  const name = signal.toUpperCase().replace(/^SIG/, '');
  const realtime = /^RT(MIN|MAX)(?:([+-])(\d{1,2}))?$/.exec(name);
  const number = /^\d{1,2}$/.test(name)
    ? Number(name)
    : realtime !== null
      ? (realtime[1] === 'MIN' ? 34 : 64) + Number(`${realtime[2] ?? '+'}${realtime[3] ?? 0}`)
      : (constants.signals as Record<string, number>)[`SIG${name}`];
  if (number === undefined || number < 1 || number > 64)
    throw new PodwrightError('invalid_argument', `there is no signal ${JSON.stringify(signal)}`);
  return number;
}

/** Maximum number of searches for descendants. More than one can be needed, because processes can fork during a search. */
const MAX_ROUNDS = 50;

/**
 * Kills the processes in `roots`, their descendants, and all members of sessions led by them (orphaned children), and waits until they have
 * exited. Stops all of them first, because the children of a dead process can no longer be found.
 */
export async function killProcessTrees(roots: number[]): Promise<void> {
  const victims = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS && roots.length > 0; round++) {
    const found = treesOf([...roots, ...victims], await readAllProcesses()).filter((pid) => !victims.has(pid));
    if (found.length === 0) break;
    for (const pid of found) {
      signalProcess(pid, constants.signals.SIGSTOP);
      victims.add(pid);
    }
  }
  for (const pid of victims) signalProcess(pid, constants.signals.SIGKILL);
  for (let round = 0; round < MAX_ROUNDS && [...victims].some(isRunning); round++) await sleep(Math.min(1 + round, 20));
}

/**
 * Whether a process is in the cgroup at this path (relative to the root of a hierarchy) or a descendant, in any of the host's cgroup
 * hierarchies.
 */
export function isInCgroup(pid: number, path: string): boolean {
  const cgroup = readProcFile(pid, 'cgroup') ?? '';
  return cgroup.split('\n').some((line) => line.endsWith(path) || line.includes(`${path}/`));
}

/** Whether a process exists and has not exited. Zombies count as exited. */
export function isRunning(pid: number): boolean {
  const process = readProcess(pid);
  return process !== undefined && hasNotEnded(process);
}

const hasNotEnded = ({ state }: ProcessStat) => state !== 'Z' && state !== 'X';

async function readAllProcesses(): Promise<ProcessStat[]> {
  const processes: ProcessStat[] = [];
  const budget = new EventLoopBudget();
  for (const pid of await listProcesses()) {
    if (budget.isSpent) await budget.renew();
    const process = readProcess(pid);
    if (process !== undefined && hasNotEnded(process)) processes.push(process);
  }
  return processes;
}

function treesOf(roots: number[], all: ProcessStat[]): number[] {
  const children = Map.groupBy(all, (process) => process.parent);
  const members = new Set(
    all.filter(({ pid, session }) => roots.includes(pid) || roots.includes(session)).map(({ pid }) => pid),
  );
  for (const pid of members) for (const child of children.get(pid) ?? []) members.add(child.pid);
  return [...members];
}

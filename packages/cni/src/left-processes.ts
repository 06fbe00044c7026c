import { readFile } from 'node:fs/promises';
import { sleep } from '@podwright/base';
import { findProcesses, isInOwnPidNamespace, parseProcessStart, readProcessStart } from '@podwright/host';
import { KILLED_MS } from './limits.ts';

const INTERVAL_MS = 20;

/**
 * Waits until the process group of a killed plugin is empty, and kills the remaining processes after `graceMs`. Zombies count as exited,
 * because not every init reaps them immediately.
 */
export async function endProcessGroup(group: number, graceMs: number): Promise<void> {
  await endProcesses((pid) => isInGroup(pid, group), graceMs);
}

/**
 * Terminates plugins that are still running for a container although the process that started them has died: an ADD that outlives its
 * container runtime would otherwise finish after the DEL and leak its resources. Finds the plugins by their environment, and kills them
 * after `graceMs`.
 */
export async function endStrayPlugins(containerId: string, graceMs: number): Promise<void> {
  await endProcesses((pid) => worksFor(pid, containerId), graceMs);
}

async function endProcesses(belongs: (pid: number) => Promise<boolean>, graceMs: number): Promise<void> {
  const startedMs = Date.now();
  for (let left = await findProcesses(belongs); left.length > 0; left = await findProcesses(belongs)) {
    const waitedMs = Date.now() - startedMs;
    if (waitedMs > graceMs + KILLED_MS) return;
    if (waitedMs >= graceMs) left.forEach(kill);
    await sleep(INTERVAL_MS);
  }
}

/**
 * Whether a process is in the process group and not a zombie. In proc(5), the state, parent and process group follow the program's name,
 * which is in parentheses and may itself contain parentheses.
 */
async function isInGroup(pid: number, group: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'latin1');
  const [state, , processGroup] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return state !== 'Z' && Number(processGroup) === group;
}

/** Whether a process is a plugin running for the container. False for a zombie, which has no environment. */
async function worksFor(pid: number, containerId: string): Promise<boolean> {
  if (!(await isInOwnPidNamespace(pid))) return false;
  const environment = await readProcessStart(pid, 'environ');
  const variable = `CNI_CONTAINERID=${containerId}`;
  if (!environment.includes(variable)) return false;
  const variables = parseProcessStart(environment);
  return variables.includes(variable) && variables.some((v) => v.startsWith('CNI_COMMAND='));
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ESRCH: the process has already exited
  }
}

import { readFile } from 'node:fs/promises';
import { findProcesses, parseProcessStart, readProcessStart, sleep } from '@podwright/base';
import { KILLED_MS } from './limits.ts';

const INTERVAL_MS = 20;

/**
 * Waits until the process group of a plugin that was killed is empty; what is left after `graceMs` is killed. Zombies
 * count as gone, since not every init reaps them at once.
 */
export async function endProcessGroup(group: number, graceMs: number): Promise<void> {
  await endProcesses((pid) => isInGroup(pid, group), graceMs);
}

/**
 * Ends plugins that work for a container although the process that started them has gone: an ADD that survived the death of
 * its runtime would otherwise finish after the DEL, and what it makes would be left over. They are found by their environment
 * and get `graceMs` to finish what they do.
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

/** proc(5): state, parent and group follow the program's name, which is in parentheses and may hold some itself. */
async function isInGroup(pid: number, group: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'latin1');
  const [state, , processGroup] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return state !== 'Z' && Number(processGroup) === group;
}

/** A zombie has no environment any more. */
async function worksFor(pid: number, containerId: string): Promise<boolean> {
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
    // ESRCH: it has ended meanwhile
  }
}

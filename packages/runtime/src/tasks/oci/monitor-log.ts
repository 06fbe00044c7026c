import { readdir, stat } from 'node:fs/promises';
import { readCommandLine } from '@podwright/system';

/** How conmon is told where the log goes. */
const LOG_OPTION = '--log-path';
const LOG_DRIVER = 'k8s-file:';

/**
 * Whether the file that the monitor writes the log to is still where the log belongs. Told to reopen it then, conmon would
 * put an empty file in its place, and what was in it would be lost.
 */
export async function isLogInPlace(monitorPid: number): Promise<boolean> {
  const path = logPathOf(await readCommandLine(monitorPid).catch(() => []));
  const there = path === undefined ? undefined : await lookAt(path);
  if (there === undefined) return false;
  const descriptors = await readdir(`/proc/${monitorPid}/fd`).catch(() => []);
  const open = await Promise.all(descriptors.map((name) => lookAt(`/proc/${monitorPid}/fd/${name}`)));
  return open.some((file) => file?.ino === there.ino && file.dev === there.dev);
}

/** The log's path in the words that a monitor was started with; `undefined` if it writes none. */
export function logPathOf(words: string[]): string | undefined {
  const value = words[words.indexOf(LOG_OPTION) + 1] ?? '';
  return words.includes(LOG_OPTION) && value.startsWith(LOG_DRIVER) ? value.slice(LOG_DRIVER.length) : undefined;
}

function lookAt(path: string): Promise<{ dev: number; ino: number } | undefined> {
  return stat(path).catch(() => undefined);
}

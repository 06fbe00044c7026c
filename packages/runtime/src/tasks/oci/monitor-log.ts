import { readdir, stat } from 'node:fs/promises';
import { readCommandLine } from '@podwright/system';

/** conmon's option for where the log goes. */
const LOG_OPTION = '--log-path';
const LOG_DRIVER = 'k8s-file:';

/**
 * Whether the file that the monitor writes the log to is still where the log belongs. Asked to reopen it then, conmon would
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

/** The log's path in a monitor's command line; `undefined` if it writes none. */
export function logPathOf(argv: string[]): string | undefined {
  const value = argv[argv.indexOf(LOG_OPTION) + 1] ?? '';
  return argv.includes(LOG_OPTION) && value.startsWith(LOG_DRIVER) ? value.slice(LOG_DRIVER.length) : undefined;
}

function lookAt(path: string): Promise<{ dev: number; ino: number } | undefined> {
  return stat(path).catch(() => undefined);
}

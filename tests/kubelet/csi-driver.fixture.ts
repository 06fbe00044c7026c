import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PluginUnderTest } from './plugin-process.fixture.ts';

/** A CSI driver in a separate process; `data` contains the files of its volumes, named by volume handle. */
export class CsiDriverUnderTest extends PluginUnderTest {
  protected readonly program = new URL('./csi-driver.ts', import.meta.url).pathname;

  /** Returns the names of volume calls, in order. */
  async volumeCalls(): Promise<string[]> {
    return (await this.allCalls()).map(({ call }) => call).filter((call) => call.endsWith('Volume'));
  }
}

export function mountsBelow(directory: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  return points.filter((point) => point.startsWith(`${directory}/`));
}

export function isThere(path: string): boolean {
  return existsSync(path);
}

/** Returns the loop devices backed by files under a directory. */
export function loopsBelow(directory: string): string[] {
  return readdirSync('/sys/block')
    .filter((name) => existsSync(`/sys/block/${name}/loop/backing_file`))
    .filter((name) => readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').startsWith(`${directory}/`))
    .map((name) => `/dev/${name}`);
}

const PREFIX = 'pwk-csi-';
const OWN = new Set<string>();

/**
 * Creates a directory for this process. Mounts under it are removed when the process exits or, if it is killed, the next time the tests are
 * run.
 */
export function csiDirectory(): string {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(PREFIX))) {
    const owner = /^pwk-csi-(\d+)-/.exec(name)?.[1];
    const path = join(tmpdir(), name);
    if (owner !== undefined && !existsSync(`/proc/${owner}`) && isOwnDirectory(path)) clear(path);
  }
  const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  if (OWN.size === 0) process.once('exit', () => OWN.forEach(clear));
  OWN.add(directory);
  return directory;
}

/** Whether a path is a directory owned by this user: in /tmp, other users can create directories and links of any name. */
function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid!();
}

/** Removes mounts, loop devices and the directory, continuing past individual failures. Never deletes files in a mount. */
function clear(directory: string): void {
  const quietly = (program: string, ...args: string[]) => {
    try {
      execFileSync(program, args, { stdio: 'ignore' });
    } catch {
      // `csiDirectory` retries this in a later process
    }
  };
  // detach loop devices that are stacked on others first
  for (const loop of loopsBelow(directory).reverse()) quietly('losetup', '-d', loop);
  for (const point of mountsBelow(directory).reverse()) quietly('umount', '-n', '--lazy', point);
  for (const loop of loopsBelow(directory)) quietly('losetup', '-d', loop);
  if (mountsBelow(directory).length === 0) rmSync(directory, { recursive: true, force: true });
}

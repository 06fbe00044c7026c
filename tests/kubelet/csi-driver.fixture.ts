import { existsSync, readFileSync } from 'node:fs';
import { PluginUnderTest } from './plugin-process.fixture.ts';

/** A CSI driver in a process of its own; `data` has the files of its volumes, by the handles. */
export class CsiDriverUnderTest extends PluginUnderTest {
  protected readonly program = new URL('./csi-driver.ts', import.meta.url).pathname;

  /** Names of the calls about volumes, in order. */
  async volumeCalls(): Promise<string[]> {
    return (await this.allCalls()).map(({ call }) => call).filter((call) => call.endsWith('Volume'));
  }
}

/** Mount points below a directory. */
export function mountsBelow(directory: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  return points.filter((point) => point.startsWith(`${directory}/`));
}

export function isThere(path: string): boolean {
  return existsSync(path);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';
import type { DriverReport, Misbehaviour } from './csi-driver.ts';

const PROGRAM = new URL('./csi-driver.ts', import.meta.url).pathname;
/** Enough for a busy host. */
const PATIENCE_MS = 30_000;

export type DriverCall = { call: string; request: Record<string, unknown> };

/** A CSI driver in a process of its own, registered at a kubelet's root directory. */
export class CsiDriverUnderTest {
  readonly name: string;
  /** Where the driver has the files of its volumes, by the handles. */
  readonly data: string;
  /** The calls that it got, since the last `forget`. */
  calls: DriverCall[] = [];
  readonly #rootDir: string;
  #child: ChildProcess | undefined;

  constructor({ name, rootDir, data }: { name: string; rootDir: string; data: string }) {
    this.name = name;
    this.#rootDir = rootDir;
    this.data = data;
  }

  get endpoint(): string {
    return join(this.#rootDir, 'plugins', `${this.name}.sock`);
  }

  async start(): Promise<void> {
    const registry = join(this.#rootDir, 'plugins_registry');
    for (const directory of [registry, join(this.#rootDir, 'plugins'), this.data])
      mkdirSync(directory, { recursive: true });
    const sockets = [this.endpoint, join(registry, `${this.name}.sock`)];
    const child = spawn(process.execPath, [PROGRAM, this.name, this.data, ...sockets], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    const listening = Promise.withResolvers<void>();
    child.on('message', (report: DriverReport) => {
      if ('listening' in report) listening.resolve();
      else this.calls.push(report as DriverCall);
    });
    child.on('exit', () => listening.reject(new Error('the driver has ended')));
    await listening.promise;
  }

  /** How its calls go from now on. */
  async behave(how: Record<string, Misbehaviour>): Promise<void> {
    await new Promise((resolve) => this.#child!.send({ behave: how }, resolve));
  }

  async called(call: string, times = 1): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${call}`);
    const enough = () => this.calls.filter((one) => one.call === call).length >= times || undefined;
    await waitFor(enough, { intervalMs: 5, signal });
  }

  /** Names of the calls about volumes, in order. */
  volumeCalls(): string[] {
    return this.calls.map(({ call }) => call).filter((call) => call.endsWith('Volume'));
  }

  forget(): void {
    this.calls = [];
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
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

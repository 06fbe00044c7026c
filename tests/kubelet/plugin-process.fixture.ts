import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';
import type { Misbehaviour, PluginMessage, PluginReport } from './plugin-process.ts';

/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 30_000;

export type PluginCall = { call: string; request: Record<string, unknown> };

/** A plugin in a separate process, registered under a kubelet's root directory. */
export abstract class PluginUnderTest {
  readonly name: string;
  readonly data: string;
  /** Calls received since the last `forget`. */
  calls: PluginCall[] = [];
  /** Path of the program. Its arguments are the name, `data`, the service socket and the registration socket. */
  protected abstract readonly program: string;
  readonly #rootDir: string;
  readonly #syncs: PromiseWithResolvers<void>[] = [];
  #child: ChildProcess | undefined;

  constructor({ name, rootDir, data }: { name: string; rootDir: string; data: string }) {
    this.name = name;
    this.#rootDir = rootDir;
    this.data = data;
  }

  get endpoint(): string {
    return join(this.#rootDir, 'plugins', `${this.name}.sock`);
  }

  get registrationSocket(): string {
    return join(this.#rootDir, 'plugins_registry', `${this.name}.sock`);
  }

  async start(): Promise<void> {
    for (const directory of ['plugins_registry', 'plugins'].map((one) => join(this.#rootDir, one)))
      mkdirSync(directory, { recursive: true });
    mkdirSync(this.data, { recursive: true });
    const { program, name, data, endpoint, registrationSocket } = this;
    const child = spawn(process.execPath, [program, name, data, endpoint, registrationSocket], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    const listening = Promise.withResolvers<void>();
    child.on('message', (report: PluginReport) => {
      if ('listening' in report) listening.resolve();
      else if ('synced' in report) this.#syncs[report.synced]!.resolve();
      else this.calls.push(report as PluginCall);
    });
    child.on('exit', () => {
      listening.reject(new Error('the plugin has exited'));
      for (const sync of this.#syncs) sync.resolve();
    });
    await listening.promise;
  }

  /** Sets how the plugin fails later calls, by call name. */
  behave(how: Record<string, Misbehaviour>): Promise<void> {
    return this.send({ behave: how });
  }

  async called(call: string, times = 1): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${call}`);
    const enough = () => this.calls.filter((one) => one.call === call).length >= times || undefined;
    await waitFor(enough, { intervalMs: 5, signal });
  }

  /** Returns the calls since the last `forget`, including those whose notifications have not reached this process yet. */
  async allCalls(): Promise<PluginCall[]> {
    if (this.#child?.connected) {
      const sync = this.#syncs.push(Promise.withResolvers()) - 1;
      await this.send({ sync });
      await this.#syncs[sync]!.promise;
    }
    return this.calls;
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

  /** Removes the registration socket, as when the plugin is being updated. */
  unregister(): void {
    rmSync(this.registrationSocket);
  }

  protected async send(message: PluginMessage): Promise<void> {
    await new Promise((resolve) => this.#child!.send(message, resolve));
  }
}

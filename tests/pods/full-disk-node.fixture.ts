import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type FileSystem, SmallDisk } from '../fixtures/small-disk.ts';
import type { Bundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';

export type FullDiskNodeOptions = { bundle: Bundle; subnet: string; fileSystem: FileSystem; mkfsOptions?: string[] };

/** A node whose root directory, with the node's own log, is on a small disk. */
export class FullDiskNode {
  readonly place: NodePlace;
  readonly disk: SmallDisk;
  readonly #config: string;
  #daemon: ChildProcess | undefined;

  constructor(context: TestContext, { bundle, subnet, fileSystem, mkfsOptions }: FullDiskNodeOptions) {
    this.place = new NodePlace(bundle, subnet);
    this.#config = this.place.file('config.toml', '[kubelet.eviction]\npressure_transition_period_seconds = 0\n');
    this.disk = new SmallDisk(this.place.path('root'), fileSystem, mkfsOptions);
    context.after(async () => {
      this.#daemon?.kill('SIGKILL');
      this.disk.remove();
      await this.place.remove();
    });
  }

  async start(): Promise<void> {
    const [file, ...args] = this.place.command('--config', this.#config, 'node');
    const log = openSync(this.place.path('root/node.log'), 'a');
    this.#daemon = spawn(file!, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    await this.place.until(async () => (await this.place.call('ps')).code === 0);
  }

  /** Starts idle pods, and waits until they run. */
  async run(...names: string[]): Promise<void> {
    for (const name of names) this.writeManifest(name, podManifest(name, forever));
    await this.place.until(() => this.areRunning(...names));
  }

  writeManifest(name: string, text: string): void {
    writeFileSync(this.place.path('root/manifests', `${name}.yaml`), text);
  }

  removeManifest(name: string): void {
    rmSync(this.place.path('root/manifests', `${name}.yaml`), { force: true });
  }

  async find(name: string): Promise<Pod | undefined> {
    return (await this.place.pods()).find(({ metadata }) => metadata.name === name);
  }

  async areRunning(...names: string[]): Promise<boolean> {
    const pods = await this.place.pods();
    return names.every((name) => pods.find((pod) => pod.metadata.name === name)?.status?.phase === 'Running');
  }

  async untilRemoved(...names: string[]): Promise<void> {
    const areRemoved = (pods: Pod[]) => !pods.some(({ metadata }) => names.includes(metadata.name));
    await this.place.until(async () => areRemoved(await this.place.pods()));
  }

  async evicted(name: string): Promise<void> {
    await this.place.until(async () => (await this.find(name))?.status?.reason === 'Evicted');
  }

  async kill(): Promise<void> {
    this.#daemon!.kill('SIGKILL');
    await once(this.#daemon!, 'exit');
  }

  /** Runs `podwright stop`, and asserts that nothing of the pods is left on the host. */
  async stop(): Promise<void> {
    await this.place.ok('stop');
    // may stay: files that wait for free space, statuses and logs of evicted pods, and the socket of a killed node
    const own =
      /^(mounts|files): \S+\/(state\/records.journal|logs\/default_.*|root(\/filler|\/manifests\/.*|\/kubelet\/pod-(resources(\/kubelet.sock)?|statuses(\/.*)?)|\/runtime\/metadata.db-wal)?)$/;
    assert.deepEqual(
      this.place.leftovers().filter((line) => !own.test(line)),
      [],
    );
  }
}

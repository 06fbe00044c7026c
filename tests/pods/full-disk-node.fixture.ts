import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { NodeInfo } from '@podwright/node-api';
import { type FileSystem, SmallDisk } from '../fixtures/small-disk.ts';
import type { Bundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';

export type FullDiskNodeOptions = { bundle: Bundle; subnet: string; fileSystem: FileSystem; mkfsOptions?: string[] };

const isEvicted = (pod: Pod) => pod.status?.reason === 'Evicted';

/** A node whose root directory and log are on a small disk. */
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

  /**
   * Starts idle pods once there is no disk pressure, and waits until they are running. A node under disk pressure would reject them
   * permanently.
   */
  async run(...names: string[]): Promise<void> {
    await this.place.until(async () => !(await this.#isUnderPressure()));
    for (const name of names) this.writeManifest(name, podManifest(name, forever));
    await this.place.until(() => this.areRunning(...names));
  }

  async #isUnderPressure(): Promise<boolean> {
    const { pressure } = await this.place.json<Pick<NodeInfo, 'pressure'>>('status');
    return (pressure?.conditions ?? []).length > 0;
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

  async isEvicted(name: string): Promise<boolean> {
    const pod = await this.find(name);
    return pod !== undefined && isEvicted(pod);
  }

  async evicted(name: string): Promise<void> {
    await this.place.until(() => this.isEvicted(name));
  }

  async kill(): Promise<void> {
    this.#daemon!.kill('SIGKILL');
    await once(this.#daemon!, 'exit');
  }

  /** Runs `podwright stop`, and asserts that pods leave nothing behind on the host except the logs of evicted ones. */
  async stop(): Promise<void> {
    const evictedBefore = (await this.place.pods()).filter(isEvicted).map(({ metadata }) => metadata.uid);
    await this.place.ok('stop');
    // may remain: files waiting for free space, statuses of evicted pods, and a killed node's socket
    const own =
      /^(mounts|files): \S+\/(state\/records.journal|root(\/filler|\/manifests\/.*|\/kubelet\/pod-(resources(\/kubelet.sock)?|statuses(\/.*)?)|\/runtime\/metadata.db-wal)?)$/;
    assert.deepEqual(
      this.place.leftovers().filter((line) => !own.test(line) && !this.#isLogOfEvicted(line, evictedBefore)),
      [],
    );
  }

  /**
   * Whether the line is the log of an evicted pod. The pod may also have been evicted while the node was stopping, which its recorded
   * status shows.
   */
  #isLogOfEvicted(line: string, evictedBefore: string[]): boolean {
    const uid = /^files: \S+\/logs\/[^/]+_([^/_]+)(\/|$)/.exec(line)?.[1];
    if (uid === undefined) return false;
    const record = this.place.path('root/kubelet/pod-statuses', `${uid}.json`);
    return evictedBefore.includes(uid) || (existsSync(record) && readFileSync(record, 'utf8').includes('"Evicted"'));
  }
}

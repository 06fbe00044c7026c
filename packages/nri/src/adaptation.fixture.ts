import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { silentLogger, waitFor } from '@podwright/base';
import { Adaptation, type AdaptationOptions } from './adaptation.ts';
import type { ContainerSource, PodSource } from './event-source.ts';
import type { LinuxResources } from './gen/nri/v1alpha1/container_pb.js';
import { ContainerSchema, PodSandboxSchema } from './gen/nri/v1alpha1/container_pb.js';
import { listenForPlugins } from './plugin-socket.ts';
import { type PluginHandlers, type RunningPlugin, runPlugin } from './stub.ts';

/** A pod for tests, whose ID is also its name. */
export const podSource = (id: string): PodSource => ({
  id,
  message: () => create(PodSandboxSchema, { id, name: id, annotations: { team: 'a' } }),
});

/** A container in a pod for tests, whose ID is also its name. */
export const containerSource = (
  id: string,
  fields: MessageInitShape<typeof ContainerSchema> = {},
  pod: PodSource = podSource('pod'),
): ContainerSource => ({
  id,
  pod,
  message: () => create(ContainerSchema, { ...(fields as object), id, podSandboxId: pod.id, name: id }),
});

/** An NRI adaptation with its own socket, on a fake container runtime that records the updates and evictions requested by plugins. */
export class AdaptationUnderTest implements AsyncDisposable {
  readonly adaptation: Adaptation;
  readonly socket: string;
  readonly pods: PodSource[] = [];
  readonly containers: ContainerSource[] = [];
  readonly updated: { id: string; resources: LinuxResources }[] = [];
  readonly evicted: string[] = [];
  readonly #directory = mkdtempSync(join(tmpdir(), 'nri-'));
  readonly #plugins: RunningPlugin[] = [];
  #close: () => Promise<void> = async () => undefined;

  constructor(options: Partial<AdaptationOptions> = {}) {
    this.socket = join(this.#directory, 'run', 'nri.sock');
    this.adaptation = new Adaptation({
      runtime: { name: 'test', version: '1.2.3' },
      logger: silentLogger,
      ...options,
    });
    this.adaptation.attach({
      list: () => ({ pods: this.pods, containers: this.containers }),
      update: async (id, resources) => void this.updated.push({ id, resources }),
      evict: async (id) => void this.evicted.push(id),
    });
  }

  async listen(): Promise<this> {
    this.#close = await listenForPlugins(this.adaptation, this.socket, silentLogger);
    return this;
  }

  /** Connects a plugin and waits until it receives events. */
  async plugin(name: string, handlers: PluginHandlers): Promise<RunningPlugin> {
    const [index = '', base = ''] = name.split('-');
    const plugin = await runPlugin({ name: base, index, socket: this.socket, handlers });
    this.#plugins.push(plugin);
    await this.until(() => this.adaptation.plugins.includes(name));
    return plugin;
  }

  async until(condition: () => boolean): Promise<void> {
    await waitFor(() => condition() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const plugin of this.#plugins) plugin.close();
    await this.adaptation.stop();
    await this.#close();
    rmSync(this.#directory, { recursive: true });
  }
}

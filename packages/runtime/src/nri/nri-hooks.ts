import type { Adaptation, ContainerAdjustment, ContainerSource, PodSource } from '@podwright/nri';
import type { OciSpec } from '@podwright/oci';
import type { ContainerRecord, ContainerResources } from '../records/container-record.ts';
import type { PodTables } from '../records/pod-tables.ts';
import type { SandboxRecord, SandboxResources } from '../records/sandbox-record.ts';
import { changedResources } from './changed-resources.ts';
import type { MessageEncoder } from './message-encoder.ts';
import type { Namespaces } from './messages.ts';

export type NriHooksDependencies = PodTables & {
  /** Manages the connected NRI plugins; absent if NRI is disabled. */
  adaptation: Adaptation | undefined;
  /** Returns the paths of a sandbox's namespaces. */
  namespacesOf: (sandbox: SandboxRecord) => Namespaces;
  /** Returns the OCI spec that a container was created with. */
  specOf: (containerId: string) => OciSpec | undefined;
};

/** Container operations available to plugins. */
export type AdjustableContainers = {
  /** Changes resources. 0 and '' mean no change. No-op if the container does not exist or has exited. */
  updateForPlugin(containerId: string, resources: ContainerResources): Promise<void>;
  /** Kills the container. */
  evict(containerId: string): Promise<void>;
};

/** Reports sandbox and container lifecycle events to NRI plugins. No-op if there are none. */
export class NriHooks {
  readonly #dependencies: NriHooksDependencies;
  /** OCI specs of containers from creation to start, so that their files need not be read for each event. */
  readonly #unstarted = new Map<string, OciSpec>();
  #messages: Promise<typeof import('./messages.ts')> | undefined;
  #encoder: Promise<MessageEncoder> | undefined;

  constructor(dependencies: NriHooksDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether a plugin or the built-in validator is active. */
  get isActive(): boolean {
    return this.#dependencies.adaptation?.isActive ?? false;
  }

  /** Provides the existing sandboxes and containers, which plugins receive when they connect. Must be called before any plugin connects. */
  attach(adjustable: AdjustableContainers): void {
    const { adaptation, sandboxes, containers } = this.#dependencies;
    adaptation?.attach({
      list: () => ({
        pods: sandboxes.list().map((record) => this.#pod(record)),
        containers: containers
          .list()
          .filter(({ state: { phase } }) => phase !== 'exited' && phase !== 'removing')
          .map((record) => this.#container(record)),
      }),
      update: (id, resources) => {
        this.#unstarted.delete(id); // the update changes the file
        return adjustable.updateForPlugin(id, changedResources(resources));
      },
      evict: (id) => adjustable.evict(id),
    });
  }

  async sandboxRunning(record: SandboxRecord): Promise<void> {
    await this.#dependencies.adaptation?.runPodSandbox(this.#pod(record));
  }

  async sandboxUpdating(record: SandboxRecord, { overhead, containers }: SandboxResources): Promise<void> {
    await this.#dependencies.adaptation?.updatePodSandbox(this.#pod(record), async () => {
      const { requestedResources } = await this.#load();
      return { overhead: requestedResources(overhead), sum: requestedResources(containers) };
    });
  }

  async sandboxUpdated(record: SandboxRecord): Promise<void> {
    await this.#dependencies.adaptation?.notifyPodUpdated(this.#pod(record));
  }

  async sandboxStopped(record: SandboxRecord): Promise<void> {
    await this.#dependencies.adaptation?.stopPodSandbox(this.#pod(record));
  }

  async sandboxRemoved(record: SandboxRecord): Promise<void> {
    await this.#dependencies.adaptation?.removePodSandbox(this.#pod(record));
  }

  /** Returns the plugins' adjustments for a container that is being created; `undefined` if there are no plugins. */
  async containerCreating(record: ContainerRecord, spec: OciSpec): Promise<ContainerAdjustment | undefined> {
    this.#unstarted.set(record.id, spec);
    return await this.#dependencies.adaptation?.createContainer(this.#container(record));
  }

  /** Reports a created container. `spec`: its OCI spec with the plugin adjustments. */
  async containerCreated(record: ContainerRecord, spec: OciSpec): Promise<void> {
    if (this.isActive) this.#unstarted.set(record.id, spec);
    else this.#unstarted.delete(record.id);
    await this.#dependencies.adaptation?.notifyContainer('postCreateContainer', this.#container(record));
  }

  /** Reports a container whose process `pid` has been created but not started. */
  async containerStarting(record: ContainerRecord, pid: number): Promise<void> {
    await this.#dependencies.adaptation?.startContainer(this.#container(record, pid));
  }

  async containerStarted(record: ContainerRecord): Promise<void> {
    await this.#dependencies.adaptation?.notifyContainer('postStartContainer', this.#container(record));
    this.#unstarted.delete(record.id);
  }

  /** Reports a container update. Returns the resources to set, which plugins might have changed. */
  async containerUpdating(record: ContainerRecord, resources: ContainerResources): Promise<ContainerResources> {
    this.#unstarted.delete(record.id); // the update changes the file
    const { adaptation } = this.#dependencies;
    if (!adaptation?.isActive) return resources;
    const { requestedResources } = await this.#load();
    const changed = await adaptation.updateContainer(this.#container(record), requestedResources(resources));
    return changed === undefined ? resources : { ...changedResources(changed), oomScoreAdj: resources.oomScoreAdj };
  }

  async containerUpdated(record: ContainerRecord): Promise<void> {
    await this.#dependencies.adaptation?.notifyContainer('postUpdateContainer', this.#container(record));
  }

  /** Reports a container's exit, once for each container. */
  async containerExited(record: ContainerRecord): Promise<void> {
    await this.#dependencies.adaptation?.stopContainer(this.#container(record));
    this.#unstarted.delete(record.id);
  }

  /** Reports a container's removal, including that of a container whose creation failed. */
  async containerRemoved(record: ContainerRecord): Promise<void> {
    await this.#dependencies.adaptation?.removeContainer(this.#container(record));
    this.#unstarted.delete(record.id);
  }

  #pod(record: SandboxRecord): PodSource {
    const { phase } = record.state;
    const isStopped = phase === 'stopped' || phase === 'removing' || phase === 'broken';
    const namespaces = () => (isStopped ? {} : this.#dependencies.namespacesOf(record));
    return {
      id: record.id,
      isStopped,
      message: async () => (await this.#load()).podMessage(record, namespaces()),
      encoded: async () => (await this.#loadEncoder()).pod(record, namespaces),
    };
  }

  #container(record: ContainerRecord, pid?: number): ContainerSource {
    const { sandboxes, specOf } = this.#dependencies;
    const sandbox = sandboxes.get(record.sandboxId);
    const pod = sandbox === undefined ? this.#removedPod(record.sandboxId) : this.#pod(sandbox);
    const spec = () => this.#unstarted.get(record.id) ?? specOf(record.id);
    return {
      id: record.id,
      pod,
      message: async () => (await this.#load()).containerMessage(record, { spec: spec(), pid }),
      encoded: async () => (await this.#loadEncoder()).container(record, { spec, pid }),
    };
  }

  /** Returns the pod of a container whose sandbox record has been removed: it has an ID only. */
  #removedPod(id: string): PodSource {
    return { id, message: async () => (await this.#load()).podlessMessage(id) };
  }

  #load(): Promise<typeof import('./messages.ts')> {
    this.#messages ??= import('./messages.ts');
    return this.#messages;
  }

  #loadEncoder(): Promise<MessageEncoder> {
    this.#encoder ??= import('./message-encoder.ts').then(({ MessageEncoder }) => new MessageEncoder());
    return this.#encoder;
  }
}

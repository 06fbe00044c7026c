import type { Duplex } from 'node:stream';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { type DefaultValidatorSettings, validateByDefault } from './default-validator.ts';
import { encodeEvent, encodeSubject } from './encoded-event.ts';
import type { ContainerSource, EventSubject, PodSource } from './event-source.ts';
import type { EventName } from './events.ts';
import { FieldOwners } from './field-owners.ts';
import {
  type ContainerAdjustment,
  ContainerAdjustmentSchema,
  type ContainerEviction,
  type ContainerUpdate,
} from './gen/nri/v1alpha1/adjustment_pb.js';
import { ContainerSchema, type LinuxResources } from './gen/nri/v1alpha1/container_pb.js';
import {
  UpdateContainerRequestSchema,
  UpdatePodSandboxRequestSchema,
  ValidateContainerAdjustmentRequestSchema,
} from './gen/nri/v1alpha1/services_pb.js';
import { beginMerge, emptyAdjustment, type Merged, mergeAdjustment } from './merge-adjustment.ts';
import { UpdateMerge } from './merge-updates.ts';
import { type EventResponse, PluginConnection, type PluginConnectionOptions } from './plugin-connection.ts';

export type EventDeliveryOptions = {
  /** Returns the plugins, in the order in which they receive events. */
  plugins(): readonly PluginConnection[];
  validator: DefaultValidatorSettings | undefined;
  logger: Logger;
};

/** Container updates and evictions requested by plugins in response to an event. */
export type Requested = { updates: ContainerUpdate[]; evictions: ContainerEviction[] };

/**
 * Delivers each event to one plugin after another, and merges their responses. This module imports all protobuf messages, so it is loaded
 * only once a plugin connects or a validator is set.
 */
export class EventDelivery {
  readonly #options: EventDeliveryOptions;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
  }

  /** Creates the connection for a new plugin on a stream. */
  connection(stream: Duplex, options: Omit<PluginConnectionOptions, 'stream'>): PluginConnection {
    return new PluginConnection({ ...options, stream });
  }

  /**
   * Delivers an event that plugins can fail by returning an error. Throws the first error; the remaining plugins do not receive the event.
   * The subject's messages are made only if a plugin has subscribed to the event.
   */
  async notify(event: EventName, subject: EventSubject): Promise<void> {
    const plugins = this.#subscribers(event);
    if (plugins.length === 0) return;
    const encoded = encodeEvent(await encodeSubject(subject));
    for (const plugin of plugins) await plugin.call(event, encoded);
  }

  /**
   * Delivers an event that plugins cannot fail, such as a stop. Errors are logged. The subject's messages are made only if a plugin has
   * subscribed to the event; `onResponse` receives each response.
   */
  async report<E extends EventName>(
    event: E,
    subject: EventSubject,
    onResponse: (plugin: PluginConnection, response: EventResponse<E>) => void = () => undefined,
  ): Promise<void> {
    const plugins = this.#subscribers(event);
    if (plugins.length === 0) return;
    const encoded = encodeEvent(await encodeSubject(subject));
    for (const plugin of plugins) {
      try {
        const response = await plugin.call(event, encoded);
        if (response !== undefined) onResponse(plugin, response);
      } catch (error) {
        const { logger } = this.#options;
        logger.error({ plugin: plugin.name, event, error: errorMessage(error) }, 'an NRI plugin failed');
      }
    }
  }

  /**
   * Delivers UpdatePodSandbox, which plugins can fail. `resources` returns the pod's new resources; it is called only if a plugin receives
   * them.
   */
  async updatePodSandbox(
    pod: PodSource,
    resources: () => Promise<{ overhead: LinuxResources; sum: LinuxResources }>,
  ): Promise<void> {
    const plugins = this.#subscribers('updatePodSandbox');
    if (plugins.length === 0) return;
    const { overhead: overheadLinuxResources, sum: linuxResources } = await resources();
    const others = create(UpdatePodSandboxRequestSchema, { overheadLinuxResources, linuxResources });
    const encoded = encodeEvent(await encodeSubject({ pod }), toBinary(UpdatePodSandboxRequestSchema, others));
    for (const plugin of plugins) await plugin.call('updatePodSandbox', encoded);
  }

  /**
   * Delivers CreateContainer. Returns the merged adjustments; `undefined` if no plugin has adjusted the container. Throws
   * `failed_precondition` if a validator rejects them.
   */
  async createContainer(container: ContainerSource): Promise<Requested & { adjust: ContainerAdjustment | undefined }> {
    const isValidated =
      this.#options.validator !== undefined || this.#subscribers('validateContainerAdjustment').length > 0;
    if (!isValidated && this.#subscribers('createContainer').length === 0)
      return { adjust: undefined, updates: [], evictions: [] };
    const { id } = container;
    const subject = await encodeSubject({ pod: container.pod, container });
    let encoded = encodeEvent(subject);
    let merged: Merged | undefined;
    const owners = new FieldOwners();
    const updates = new UpdateMerge(owners, { creating: id });
    const evictions: ContainerEviction[] = [];
    const plugins = this.#options.plugins();
    for (const plugin of plugins) {
      const response = await plugin.call('createContainer', encoded);
      if (response === undefined) continue;
      const { name } = plugin;
      if (response.adjust !== undefined && !isEmpty(response.adjust)) {
        merged ??= beginMerge(await container.message());
        mergeAdjustment({ owners, containerId: id, plugin: name }, merged, response.adjust);
        encoded = encodeEvent({ ...subject, container: toBinary(ContainerSchema, merged.container) });
      }
      updates.add(name, response.update);
      evictions.push(...response.evict);
    }
    if (isValidated)
      await this.#validate({
        pod: await container.pod.message(),
        container: await container.message(),
        adjust: merged?.adjust ?? emptyAdjustment(),
        update: updates.list(),
        owners: owners.message(),
        plugins: plugins.map(({ index, base }) => ({ index, name: base })),
      });
    return { adjust: merged?.adjust, updates: updates.list(), evictions };
  }

  /** Delivers UpdateContainer. `updates` includes the container itself only if a plugin changes its resources. */
  async updateContainer(container: ContainerSource, requested: LinuxResources): Promise<Requested> {
    const plugins = this.#subscribers('updateContainer');
    if (plugins.length === 0) return { updates: [], evictions: [] };
    const subject = await encodeSubject({ pod: container.pod, container });
    const updates = new UpdateMerge(new FieldOwners());
    updates.request(container.id, requested);
    const evictions: ContainerEviction[] = [];
    let isChanged = false;
    for (const plugin of plugins) {
      const linuxResources = updates.list().find(({ containerId }) => containerId === container.id)?.linux?.resources;
      const others = create(UpdateContainerRequestSchema, { linuxResources });
      const encoded = encodeEvent(subject, toBinary(UpdateContainerRequestSchema, others));
      const response = await plugin.call('updateContainer', encoded);
      updates.add(plugin.name, response?.update ?? []);
      evictions.push(...(response?.evict ?? []));
      isChanged ||= response?.update.some(({ containerId }) => containerId === container.id) ?? false;
    }
    const list = updates.list().filter(({ containerId }) => isChanged || containerId !== container.id);
    return { updates: list, evictions };
  }

  /** Delivers StopContainer. Errors are logged. Returns the requested updates to other containers. */
  async stopContainer(container: ContainerSource): Promise<ContainerUpdate[]> {
    const updates = new UpdateMerge(new FieldOwners());
    const subject = { pod: container.pod, container };
    await this.report('stopContainer', subject, ({ name }, { update }) => updates.add(name, update));
    return updates.list();
  }

  /** Calls the built-in validator, and then the validating plugins concurrently. Throws `failed_precondition` if any of them rejects. */
  async #validate(fields: MessageInitShape<typeof ValidateContainerAdjustmentRequestSchema>): Promise<void> {
    const { validator } = this.#options;
    const message = create(ValidateContainerAdjustmentRequestSchema, fields);
    const problem = validator && validateByDefault(validator, message);
    if (problem !== undefined) throw rejected('the default validator', problem);
    const plugins = this.#subscribers('validateContainerAdjustment');
    if (plugins.length === 0) return;
    const request = toBinary(ValidateContainerAdjustmentRequestSchema, message);
    await Promise.all(
      plugins.map(async (plugin) => {
        const response = await plugin.call('validateContainerAdjustment', { request });
        if (response === undefined) throw rejected(plugin.name, 'it did not respond');
        if (response.reject) throw rejected(plugin.name, response.reason || 'no reason');
      }),
    );
  }

  #subscribers(event: EventName): PluginConnection[] {
    return this.#options.plugins().filter((plugin) => plugin.subscribes(event));
  }
}

/** Whether a plugin's adjustment changes nothing. Many plugins respond with such an adjustment to containers that do not concern them. */
const isEmpty = (adjust: ContainerAdjustment) => toBinary(ContainerAdjustmentSchema, adjust).length === 0;

const rejected = (by: string, why: string) =>
  new PodwrightError('failed_precondition', `NRI adjustments are rejected by ${by}: ${why}`);

import type { Duplex } from 'node:stream';
import { clone, create } from '@bufbuild/protobuf';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { type DefaultValidatorSettings, validateByDefault } from './default-validator.ts';
import type { EventName } from './events.ts';
import { FieldOwners } from './field-owners.ts';
import type { ContainerAdjustment, ContainerEviction, ContainerUpdate } from './gen/nri/v1alpha1/adjustment_pb.js';
import {
  type Container,
  ContainerSchema,
  type LinuxResources,
  type PodSandbox,
} from './gen/nri/v1alpha1/container_pb.js';
import { ValidateContainerAdjustmentRequestSchema } from './gen/nri/v1alpha1/services_pb.js';
import { beginMerge, mergeAdjustment } from './merge-adjustment.ts';
import { UpdateMerge } from './merge-updates.ts';
import {
  type EventRequest,
  type EventResponse,
  PluginConnection,
  type PluginConnectionOptions,
} from './plugin-connection.ts';

export type EventDeliveryOptions = {
  /** Returns the plugins, in the order in which they receive events. */
  plugins(): readonly PluginConnection[];
  validator: DefaultValidatorSettings | undefined;
  logger: Logger;
};

/** Container updates and evictions requested by plugins in response to an event. */
export type Requested = { updates: ContainerUpdate[]; evictions: ContainerEviction[] };

/** The messages for a container and its pod. */
export type ContainerMessages = { pod: PodSandbox; container: Container };

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
   * `request` is called only if a plugin has subscribed to the event.
   */
  async notify<E extends EventName>(event: E, request: MakeRequest<E>): Promise<void> {
    const plugins = this.#subscribers(event);
    if (plugins.length === 0) return;
    const message = await request();
    for (const plugin of plugins) await plugin.call(event, message);
  }

  /**
   * Delivers an event that plugins cannot fail, such as a stop. Errors are logged. `request` is called only if a plugin has subscribed to
   * the event; `onResponse` receives each response.
   */
  async report<E extends EventName>(
    event: E,
    request: MakeRequest<E>,
    onResponse: (plugin: PluginConnection, response: EventResponse<E>) => void = () => undefined,
  ): Promise<void> {
    const plugins = this.#subscribers(event);
    if (plugins.length === 0) return;
    const message = await request();
    for (const plugin of plugins) {
      try {
        const response = await plugin.call(event, message);
        if (response !== undefined) onResponse(plugin, response);
      } catch (error) {
        const { logger } = this.#options;
        logger.error({ plugin: plugin.name, event, error: errorMessage(error) }, 'an NRI plugin failed');
      }
    }
  }

  /**
   * Delivers CreateContainer. Returns the merged adjustments; `undefined` if no plugin could adjust the container or reject adjustments.
   * Throws `failed_precondition` if a validator rejects them.
   */
  async createContainer(
    request: () => Promise<ContainerMessages>,
  ): Promise<Requested & { adjust: ContainerAdjustment | undefined }> {
    const isValidated =
      this.#options.validator !== undefined || this.#subscribers('validateContainerAdjustment').length > 0;
    if (!isValidated && this.#subscribers('createContainer').length === 0)
      return { adjust: undefined, updates: [], evictions: [] };
    const messages = await request();
    const { id } = messages.container;
    const pristine = isValidated ? clone(ContainerSchema, messages.container) : undefined;
    const owners = new FieldOwners();
    const updates = new UpdateMerge(owners, { creating: id });
    const merged = beginMerge(messages.container);
    const evictions: ContainerEviction[] = [];
    const plugins = this.#options.plugins();
    for (const plugin of plugins) {
      const response = await plugin.call('createContainer', messages);
      if (response === undefined) continue;
      const { name } = plugin;
      if (response.adjust !== undefined)
        mergeAdjustment({ owners, containerId: id, plugin: name }, merged, response.adjust);
      updates.add(name, response.update);
      evictions.push(...response.evict);
    }
    if (pristine !== undefined)
      await this.#validate({
        pod: messages.pod,
        container: pristine,
        adjust: merged.adjust,
        update: updates.list(),
        owners: owners.message(),
        plugins: plugins.map(({ index, base }) => ({ index, name: base })),
      });
    return { adjust: merged.adjust, updates: updates.list(), evictions };
  }

  /** Delivers UpdateContainer. `updates` includes the container itself only if a plugin changes its resources. */
  async updateContainer(request: () => Promise<ContainerMessages>, requested: LinuxResources): Promise<Requested> {
    const plugins = this.#subscribers('updateContainer');
    if (plugins.length === 0) return { updates: [], evictions: [] };
    const messages = await request();
    const containerId = messages.container.id;
    const updates = new UpdateMerge(new FieldOwners());
    updates.request(containerId, requested);
    const evictions: ContainerEviction[] = [];
    let isChanged = false;
    for (const plugin of plugins) {
      const linuxResources = updates.list().find((update) => update.containerId === containerId)?.linux?.resources;
      const response = await plugin.call('updateContainer', { ...messages, linuxResources });
      updates.add(plugin.name, response?.update ?? []);
      evictions.push(...(response?.evict ?? []));
      isChanged ||= response?.update.some((update) => update.containerId === containerId) ?? false;
    }
    const list = updates.list().filter((update) => isChanged || update.containerId !== containerId);
    return { updates: list, evictions };
  }

  /** Delivers StopContainer. Errors are logged. Returns the requested updates to other containers. */
  async stopContainer(request: () => Promise<ContainerMessages>): Promise<ContainerUpdate[]> {
    const updates = new UpdateMerge(new FieldOwners());
    await this.report('stopContainer', request, ({ name }, { update }) => updates.add(name, update));
    return updates.list();
  }

  /** Calls the built-in validator, and then the validating plugins concurrently. Throws `failed_precondition` if any of them rejects. */
  async #validate(request: EventRequest<'validateContainerAdjustment'>): Promise<void> {
    const { validator } = this.#options;
    const message = create(ValidateContainerAdjustmentRequestSchema, request);
    const problem = validator && validateByDefault(validator, message);
    if (problem !== undefined) throw rejected('the default validator', problem);
    await Promise.all(
      this.#subscribers('validateContainerAdjustment').map(async (plugin) => {
        const response = await plugin.call('validateContainerAdjustment', message);
        if (response === undefined) throw rejected(plugin.name, 'it did not respond');
        if (response.reject) throw rejected(plugin.name, response.reason || 'no reason');
      }),
    );
  }

  #subscribers(event: EventName): PluginConnection[] {
    return this.#options.plugins().filter((plugin) => plugin.subscribes(event));
  }
}

type MakeRequest<E extends EventName> = () => Promise<EventRequest<E>>;

const rejected = (by: string, why: string) =>
  new PodwrightError('failed_precondition', `NRI adjustments are rejected by ${by}: ${why}`);

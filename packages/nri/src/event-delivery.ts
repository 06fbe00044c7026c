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

/** The updates and evictions of containers that plugins request in response to an event. */
export type Requested = { updates: ContainerUpdate[]; evictions: ContainerEviction[] };

/** The messages for a container and its pod. */
export type ContainerMessages = { pod: PodSandbox; container: Container };

/**
 * Delivers each event to one plugin after the other, and merges their responses. This module imports all protobuf messages, so it is loaded
 * only when a plugin connects or a validator is set.
 */
export class EventDelivery {
  readonly #options: EventDeliveryOptions;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
  }

  /** Creates the connection of a new plugin on a stream. */
  connection(stream: Duplex, options: Omit<PluginConnectionOptions, 'stream'>): PluginConnection {
    return new PluginConnection({ ...options, stream });
  }

  /** Delivers an event that plugins may fail. Throws the first error; the remaining plugins do not receive the event. */
  async notify<E extends EventName>(event: E, request: EventRequest<E>): Promise<void> {
    for (const plugin of this.#options.plugins()) await plugin.call(event, request);
  }

  /** Delivers an event that plugins cannot fail, such as a stop. Errors are logged. `onResponse` receives each response. */
  async report<E extends EventName>(
    event: E,
    request: EventRequest<E>,
    onResponse: (plugin: PluginConnection, response: EventResponse<E>) => void = () => undefined,
  ): Promise<void> {
    for (const plugin of this.#options.plugins()) {
      try {
        const response = await plugin.call(event, request);
        if (response !== undefined) onResponse(plugin, response);
      } catch (error) {
        const { logger } = this.#options;
        logger.error({ plugin: plugin.name, event, error: errorMessage(error) }, 'an NRI plugin failed');
      }
    }
  }

  /** Delivers CreateContainer. Returns the merged adjustments. Throws `failed_precondition` if a validator rejects them. */
  async createContainer(messages: ContainerMessages): Promise<Requested & { adjust: ContainerAdjustment }> {
    const { id } = messages.container;
    const pristine = clone(ContainerSchema, messages.container);
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

  /** Delivers UpdateContainer. `updates` contains the container itself only if a plugin changes its resources. */
  async updateContainer(messages: ContainerMessages, requested: LinuxResources): Promise<Requested> {
    const containerId = messages.container.id;
    const updates = new UpdateMerge(new FieldOwners());
    updates.request(containerId, requested);
    const evictions: ContainerEviction[] = [];
    let isChanged = false;
    for (const plugin of this.#options.plugins()) {
      const linuxResources = updates.list().find((update) => update.containerId === containerId)?.linux?.resources;
      const response = await plugin.call('updateContainer', { ...messages, linuxResources });
      updates.add(plugin.name, response?.update ?? []);
      evictions.push(...(response?.evict ?? []));
      isChanged ||= response?.update.some((update) => update.containerId === containerId) ?? false;
    }
    const list = updates.list().filter((update) => isChanged || update.containerId !== containerId);
    return { updates: list, evictions };
  }

  /** Delivers StopContainer. Errors are logged. Returns the updates of other containers. */
  async stopContainer(messages: ContainerMessages): Promise<ContainerUpdate[]> {
    const updates = new UpdateMerge(new FieldOwners());
    await this.report('stopContainer', messages, ({ name }, { update }) => updates.add(name, update));
    return updates.list();
  }

  /** Calls the built-in validator, and then the validating plugins at the same time. Throws `failed_precondition` if one rejects. */
  async #validate(request: EventRequest<'validateContainerAdjustment'>): Promise<void> {
    const { validator, plugins } = this.#options;
    const message = create(ValidateContainerAdjustmentRequestSchema, request);
    const problem = validator && validateByDefault(validator, message);
    if (problem !== undefined) throw rejected('the default validator', problem);
    const validators = plugins().filter((plugin) => plugin.subscribes('validateContainerAdjustment'));
    await Promise.all(
      validators.map(async (plugin) => {
        const response = await plugin.call('validateContainerAdjustment', message);
        if (response === undefined) throw rejected(plugin.name, 'it did not respond');
        if (response.reject) throw rejected(plugin.name, response.reason || 'no reason');
      }),
    );
  }
}

const rejected = (by: string, why: string) =>
  new PodwrightError('failed_precondition', `NRI adjustments are rejected by ${by}: ${why}`);

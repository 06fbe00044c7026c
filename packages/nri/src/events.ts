import { PodwrightError } from '@podwright/base';
import type { Plugin } from './gen/nri/v1alpha1/services_pb.js';
import { Event } from './gen/nri/v1alpha1/services_pb.js';

/** Name of an event that plugins can subscribe to, which is also the name of its RPC. */
export type EventName = Exclude<keyof typeof Plugin.method, 'configure' | 'synchronize' | 'shutdown' | 'stateChange'>;

/** Events and their numbers in subscriptions and StateChange. */
export const EVENT_NUMBERS: Readonly<Record<EventName, Event>> = {
  runPodSandbox: Event.RUN_POD_SANDBOX,
  stopPodSandbox: Event.STOP_POD_SANDBOX,
  removePodSandbox: Event.REMOVE_POD_SANDBOX,
  createContainer: Event.CREATE_CONTAINER,
  postCreateContainer: Event.POST_CREATE_CONTAINER,
  startContainer: Event.START_CONTAINER,
  postStartContainer: Event.POST_START_CONTAINER,
  updateContainer: Event.UPDATE_CONTAINER,
  postUpdateContainer: Event.POST_UPDATE_CONTAINER,
  stopContainer: Event.STOP_CONTAINER,
  removeContainer: Event.REMOVE_CONTAINER,
  updatePodSandbox: Event.UPDATE_POD_SANDBOX,
  postUpdatePodSandbox: Event.POST_UPDATE_POD_SANDBOX,
  validateContainerAdjustment: Event.VALIDATE_CONTAINER_ADJUSTMENT,
};

export const EVENT_NAMES = Object.keys(EVENT_NUMBERS) as EventName[];

const bitOf = (event: EventName) => 1 << (EVENT_NUMBERS[event] - 1);

/** Returns the subscription mask for these events (`ConfigureResponse.events`). */
export const eventMask = (events: Iterable<EventName>): number => {
  let mask = 0;
  for (const event of events) mask |= bitOf(event);
  return mask;
};

/**
 * Returns the events in a subscription mask. 0 means all events except ValidateContainerAdjustment, which needs a response. Throws
 * `invalid_argument` for unknown bits.
 */
export function eventsOfMask(mask: number): Set<EventName> {
  const unknown = mask & ~eventMask(EVENT_NAMES);
  if (unknown !== 0)
    throw new PodwrightError('invalid_argument', `subscribe to events 0x${(unknown >>> 0).toString(16)}: unknown`);
  const subscription = mask === 0 ? ~bitOf('validateContainerAdjustment') : mask;
  return new Set(EVENT_NAMES.filter((event) => (subscription & bitOf(event)) !== 0));
}

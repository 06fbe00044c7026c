import { randomUUID } from 'node:crypto';
import { RecentlyUsed } from '@podwright/base';
import {
  formatTime,
  MAX_EVENT_MESSAGE_LENGTH,
  MAX_SIMILAR_EVENTS,
  type RecordedEvent,
  SIMILAR_EVENTS_WINDOW_MS,
} from '@podwright/kube-api';

/**
 * Size of each LRU cache (event groups, sent events, and rate-limit buckets). Like `EVENT_SPAM_REFILL_MS` and `EVENT_SPAM_BURST`, from
 * client-go (tools/record/events_cache.go).
 */
const MAX_CORRELATED_EVENTS = 4096;

const EVENT_SPAM_REFILL_MS = 300_000;

/** Burst of events allowed per object, refilled by one every five minutes. */
const EVENT_SPAM_BURST = 25;

/** The program or controller that reports events, and its node if it reports for one. */
export type EventSource = { component: string; host?: string };

/** core/v1 Event, with the fields that client-go's recorder sets. */
export type ApiEvent = {
  apiVersion: 'v1';
  kind: 'Event';
  metadata: { name: string; namespace: string; annotations?: Record<string, string> };
  involvedObject: {
    apiVersion: string;
    kind: string;
    namespace?: string;
    name: string;
    uid: string;
    resourceVersion?: string;
    fieldPath?: string;
  };
  type: string;
  reason: string;
  message: string;
  source: EventSource;
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
  eventTime: null;
  reportingComponent: string;
  reportingInstance: string;
};

/** An event to send to the API server: created as a new event or, if `isRepeat` is set, patched into the existing one. */
export type CorrelatedEvent = { event: ApiEvent; isRepeat: boolean };

/**
 * Decides which recorded events to send to the API server, by the rules of client-go's tools/record: repeated events are counted, events
 * that differ only in their message are combined from the tenth on, and each object may emit a burst of 25 events, then one every five
 * minutes.
 */
export class EventCorrelator {
  readonly #groups = new RecentlyUsed<{ messages: Set<string>; lastAtMs: number }>(MAX_CORRELATED_EVENTS);
  readonly #sent = new RecentlyUsed<{ name: string; firstTimestamp: string; count: number }>(MAX_CORRELATED_EVENTS);
  readonly #buckets = new RecentlyUsed<{ tokens: number; filledAtMs: number }>(MAX_CORRELATED_EVENTS);

  /** Returns the event to send, or `undefined` if it exceeds the rate limit and must be dropped. */
  correlate(recorded: RecordedEvent, source: EventSource): CorrelatedEvent | undefined {
    const { about, type, atMs } = recorded;
    const subject = [source.component, about.kind, about.namespace, about.name, about.uid];
    const group = [...subject, type, recorded.reason].join('\0');
    const isCombined = this.#isCombined(group, recorded);
    const message = isCombined ? `(combined from similar events): ${recorded.message}` : recorded.message;
    const key = isCombined ? group : [group, about.fieldPath, message].join('\0');
    const event = eventOf({ ...recorded, message: message.slice(0, MAX_EVENT_MESSAGE_LENGTH) }, source);
    const result = this.#observe(key, event);
    return this.#takeToken(subject.join('\0'), atMs) ? result : undefined;
  }

  #isCombined(group: string, { message, atMs }: RecordedEvent): boolean {
    const known = this.#groups.get(group);
    const isFresh = known !== undefined && atMs - known.lastAtMs <= SIMILAR_EVENTS_WINDOW_MS;
    const messages = isFresh ? known.messages : new Set<string>();
    messages.add(message);
    this.#groups.set(group, { messages, lastAtMs: atMs });
    if (messages.size < MAX_SIMILAR_EVENTS) return false;
    messages.delete(messages.values().next().value!);
    return true;
  }

  #observe(key: string, event: ApiEvent): CorrelatedEvent {
    const known = this.#sent.get(key);
    if (known !== undefined) {
      event.metadata.name = known.name;
      event.firstTimestamp = known.firstTimestamp;
      event.count = known.count + 1;
    }
    const { firstTimestamp, count } = event;
    this.#sent.set(key, { name: event.metadata.name, firstTimestamp, count });
    return { event, isRepeat: known !== undefined };
  }

  #takeToken(subject: string, atMs: number): boolean {
    const { tokens, filledAtMs } = this.#buckets.get(subject) ?? { tokens: EVENT_SPAM_BURST, filledAtMs: atMs };
    const filled = Math.min(EVENT_SPAM_BURST, tokens + Math.max(0, atMs - filledAtMs) / EVENT_SPAM_REFILL_MS);
    const isTaken = filled >= 1;
    this.#buckets.set(subject, { tokens: isTaken ? filled - 1 : filled, filledAtMs: atMs });
    return isTaken;
  }
}

function eventOf({ about, type, reason, message, atMs }: RecordedEvent, source: EventSource): ApiEvent {
  const time = formatTime(atMs);
  const { apiVersion = 'v1', kind, namespace, name, uid, resourceVersion, fieldPath, annotations } = about;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: eventName(name, atMs),
      namespace: namespace === '' ? 'default' : namespace,
      ...(annotations === undefined ? {} : { annotations }),
    },
    involvedObject: {
      apiVersion,
      kind,
      ...(namespace === '' ? {} : { namespace }),
      name,
      uid,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    },
    type,
    reason,
    message,
    source,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    eventTime: null,
    reportingComponent: source.component,
    reportingInstance: source.host ?? '',
  };
}

/**
 * Builds an event name from the involved object's name and a hexadecimal timestamp in nanoseconds. The sub-millisecond digits come from the
 * monotonic clock, to make the name unique.
 */
function eventName(about: string, atMs: number): string {
  const nanoseconds = BigInt(Math.floor(atMs)) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);
  const name = `${about}.${nanoseconds.toString(16)}`;
  const isName = name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
  return isName ? name : randomUUID();
}

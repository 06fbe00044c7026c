import { linesOf, wrapError } from '@podwright/base';
import * as z from 'zod';
import { MAX_EVENT_BYTES } from '../limits.ts';
import type { EngineHttp } from './engine-http.ts';

/** The container actions to follow (Docker Engine API, "Monitor events"). */
const ACTIONS = ['create', 'start', 'die', 'destroy'] as const;

const eventSchema = z.object({
  Action: z.enum(ACTIONS),
  /** Time of the event in nanoseconds since the epoch. As a JavaScript number it is exact only to the microsecond. */
  timeNano: z.number(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()) }),
});

/** A container event. `attributes` contains the container's labels and, under the key `name`, its name. */
export type EngineEvent = {
  id: string;
  action: (typeof ACTIONS)[number];
  atMs: number;
  attributes: Record<string, string>;
};

/** An open event stream. */
export type EngineEventStream = AsyncIterable<EngineEvent>;

/**
 * Yields the events of containers with this label since `sinceMs`: first the past events the Engine still has in memory (a few hundred),
 * then new ones as they occur. The stream ends when the Engine stops or `signal` aborts. Malformed lines are skipped.
 */
export async function followEvents(
  http: EngineHttp,
  { label, sinceMs }: { label: string; sinceMs: number },
  signal: AbortSignal,
): Promise<EngineEventStream> {
  const filters = JSON.stringify({ type: ['container'], event: ACTIONS, label: [label] });
  const query = { filters, since: (sinceMs / 1000).toFixed(6) };
  const what = 'follow events';
  const response = await http.stream({ what, method: 'GET', path: '/events', query, signal });
  return parsedEvents(response, what);
}

async function* parsedEvents(chunks: AsyncIterable<Buffer>, what: string): AsyncGenerator<EngineEvent> {
  try {
    for await (const line of linesOf(chunks, MAX_EVENT_BYTES)) {
      const event = parseEvent(line);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    throw wrapError(`${what}: the Docker Engine's stream broke`, error, 'unavailable');
  }
}

/** Parses one line of the event stream. Returns `undefined` if it is malformed or its action is not one of `ACTIONS`. */
export function parseEvent(line: string): EngineEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { data } = eventSchema.safeParse(value);
  if (data === undefined) return undefined;
  const { Action: action, timeNano, Actor } = data;
  return { id: Actor.ID, action, atMs: timeNano / 1e6, attributes: Actor.Attributes };
}

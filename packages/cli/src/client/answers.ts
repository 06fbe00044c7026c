import { PodwrightError } from '@podwright/base';
import type {
  ApplyResult,
  Event,
  EventWatchEvent,
  NodeInfo,
  Pod,
  PodWatchEvent,
  RestartAnswer,
  TraceSpan,
} from '@podwright/kubelet';
import * as z from 'zod';

/** Makes a value of what a node answered with; throws for an answer of another shape. */
export type Decoder<T> = (value: unknown) => T;

/*
 * What is checked is what the commands count on. The rest of an object is the kubelet's type, shown as it came; a field that a
 * node of another version has too much is no error.
 */
const uidObject = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string(), uid: z.string() }),
});
const containerStatuses = z
  .array(
    z.looseObject({
      name: z.string(),
      ready: z.boolean(),
      restartCount: z.int(),
      state: z.looseObject({}),
      lastState: z.looseObject({}),
    }),
  )
  .optional();
const pod = uidObject.extend({
  spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string(), image: z.string() })) }),
  status: z.looseObject({ phase: z.string(), containerStatuses, initContainerStatuses: containerStatuses }).optional(),
});
const event = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  count: z.int(),
  lastTimestamp: z.string(),
  involvedObject: z.looseObject({ kind: z.string(), namespace: z.string(), name: z.string(), uid: z.string() }),
});
const change = z.enum(['ADDED', 'MODIFIED', 'DELETED']);

export const decodePod = decoder<Pod>(pod);
export const decodePods = decoder<{ items: Pod[] }>(z.looseObject({ items: z.array(pod) }));
export const decodePodChange = decoder<PodWatchEvent>(z.looseObject({ type: change, object: pod }));
export const decodeEvents = decoder<{ items: Event[] }>(z.looseObject({ items: z.array(event) }));
export const decodeEventChange = decoder<EventWatchEvent>(z.looseObject({ type: change, object: event }));
export const decodeAnything = decoder<object>(z.looseObject({}));
export const decodeApplyResult = decoder<ApplyResult>(
  z.looseObject({
    objects: z.array(
      z.looseObject({
        kind: z.string(),
        namespace: z.string(),
        name: z.string(),
        uid: z.string().optional(),
        action: z.string(),
      }),
    ),
  }),
);
export const decodeNode = decoder<NodeInfo>(
  z.looseObject({
    name: z.string(),
    version: z.string(),
    pid: z.int().positive(),
    runtime: z.looseObject({
      name: z.string(),
      version: z.string(),
      apiVersion: z.string(),
      endpoint: z.string(),
    }),
  }),
);
export const decodeRestart = decoder<RestartAnswer>(z.looseObject({ containers: z.array(z.string()) }));
export const decodeSpans = decoder<TraceSpan[]>(
  z.array(z.looseObject({ name: z.string(), startMs: z.number(), endMs: z.number() })),
);

/** `schema` checks a part of T's fields: nothing but a node of another version has the others wrong. */
function decoder<T>(schema: z.ZodType): Decoder<T> {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data as T;
    const [issue] = parsed.error.issues;
    throw new PodwrightError(
      'internal',
      `read the node's answer: ${issue!.path.join('.') || 'it'}: ${issue!.message}; if it is of another version ('podwright version' tells), restart it`,
    );
  };
}

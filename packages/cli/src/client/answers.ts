import { PodwrightError } from '@podwright/base';
import { completeEvent, type Event, type Pod, type ReceivedEvent } from '@podwright/kube-api';
import type { TraceSpan } from '@podwright/kubelet';
import type {
  ApplyResult,
  EventWatchEvent,
  ImageTransfer,
  NodeInfo,
  PodWatchEvent,
  RestartAnswer,
} from '@podwright/node-api';
import { array, boolean, int, number, object, oneOf, positiveInt, Shape, string } from './shape.ts';

/** Decodes a response from the node. Throws `internal` if its shape is unexpected. */
export type Decoder<T> = (value: unknown) => T;

/*
 * Only the fields that the commands read are checked. All other fields are shown as received, so unknown fields of a newer node
 * are no error.
 */
const containerStatuses = array(
  object({
    name: string(),
    ready: boolean(),
    restartCount: int(),
    state: object({}),
    lastState: object({}),
  }),
).optional();
const pod = object({
  metadata: object({ name: string(), namespace: string(), uid: string() }),
  spec: object({ containers: array(object({ name: string(), image: string() })) }),
  status: object({
    phase: string(),
    containerStatuses,
    initContainerStatuses: containerStatuses,
    ephemeralContainerStatuses: containerStatuses,
  }).optional(),
});
const event = object({
  metadata: object({ name: string() }),
  type: string(),
  reason: string(),
  message: string(),
  // cluster-scoped objects have no namespace, and some clients omit the UID
  involvedObject: object({
    kind: string(),
    namespace: string().optional(),
    name: string(),
    uid: string().optional(),
  }),
});
const change = oneOf(['ADDED', 'MODIFIED', 'DELETED']);

export const decodePod = decoder<Pod>(pod);
export const decodePods = decoder<{ items: Pod[] }>(object({ items: array(pod) }));
export const decodePodChange = decoder<PodWatchEvent>(object({ type: change, object: pod }));
/** Decodes a pod watch event, or the bookmark that ends the initial list. */
export const decodePodNews = (value: unknown): PodWatchEvent | { type: 'listed' } =>
  (value as { type?: unknown } | null)?.type === 'BOOKMARK' ? { type: 'listed' } : decodePodChange(value);
const decodeReceivedEvents = decoder<{ items: ReceivedEvent[] }>(object({ items: array(event) }));
const decodeReceivedChange = decoder<EventWatchEvent & { object: ReceivedEvent }>(
  object({ type: change, object: event }),
);
export const decodeEvents = (value: unknown): Event[] => decodeReceivedEvents(value).items.map(completeEvent);
export function decodeEventChange(value: unknown): EventWatchEvent {
  const { type, object: received } = decodeReceivedChange(value);
  return { type, object: completeEvent(received) };
}
export const decodeTransfer = decoder<ImageTransfer>(
  object({
    reference: string(),
    phase: string(),
    doneBytes: number(),
    totalBytes: number(),
    layersDone: int(),
    layersTotal: int(),
    error: string(),
  }),
);
export const decodeAnything = decoder<object>(object({}));
const finding = object({
  severity: oneOf(['problem', 'note']),
  kind: string(),
  namespace: string(),
  name: string(),
  path: array(new Shape((part) => (typeof part === 'number' ? undefined : string().problem(part)))),
  message: string(),
});
export const decodeApplyResult = decoder<ApplyResult>(
  object({
    objects: array(
      object({
        kind: string(),
        apiVersion: string().optional(),
        namespace: string(),
        name: string(),
        uid: string().optional(),
        action: string(),
      }),
    ),
    findings: array(finding).optional(), // older nodes omit the findings
    warnings: array(string()).optional(),
    unknown: array(string()).optional(),
  }),
);
export const decodeNode = decoder<NodeInfo>(
  object({
    name: string(),
    version: string(),
    pid: positiveInt(),
    manifestErrors: array(string()).optional(),
    runtime: object({
      name: string(),
      version: string(),
      apiVersion: string(),
      endpoint: string(),
    }),
  }),
);
export const decodeRestart = decoder<RestartAnswer>(object({ containers: array(string()) }));
const span = object({
  name: string(),
  startMs: number(),
  endMs: number(),
  id: string().optional(),
  parentId: string().optional(),
});
export const decodeSpans = decoder<TraceSpan[]>(array(span));

/** Makes a decoder that checks only the fields in `schema` and trusts the rest of T. */
function decoder<T>(schema: Shape): Decoder<T> {
  return (value) => {
    const problem = schema.problem(value);
    if (problem === undefined) return value as T;
    throw unreadable(`${problem.path.join('.') || 'it'}: ${problem.message}`);
  };
}

/** Returns the error for a response of an unexpected shape. */
export function unreadable(what: string): PodwrightError {
  return new PodwrightError(
    'internal',
    `read the node's answer: ${what}; if its version differs (see 'podwright version'), restart it`,
  );
}

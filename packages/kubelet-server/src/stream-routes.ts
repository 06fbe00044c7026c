import { errorCode } from '@podwright/base';
import { rpcErrorText } from '@podwright/grpc';
import type { Kubelet, StreamOptions } from '@podwright/kubelet';
import { type Refusal, refusal } from './api-route.ts';
import { isSet } from './http/query.ts';
import { containerOf, fullName, runningContainer } from './pod-lookup.ts';
import { streamUrl } from './stream-url.ts';

export type StreamKind = 'exec' | 'attach' | 'portForward';

/** A stream whose pod and container exist. `open` requests the stream's URL from the container runtime. */
export type Stream = { kind: StreamKind; choice: StreamOptions; open: () => Promise<string> };

export type FoundStream = { kind: 'found'; stream: Stream } | { kind: 'refused'; refusal: Refusal };

export type StreamRequest = {
  kind: StreamKind;
  params: Record<string, string | undefined>;
  query: URLSearchParams;
  /** Whether the query string must specify the ports to forward, as it must for WebSocket clients. */
  needsPorts: boolean;
};

/** Paths of the streaming endpoints. If the path contains a `uid`, it must be the pod's UID. */
export const STREAM_PATHS: { kind: StreamKind; path: string }[] = [
  ...(['exec', 'attach'] as const).flatMap((kind) => [
    { kind, path: `/${kind}/:namespace/:pod/:container` },
    { kind, path: `/${kind}/:namespace/:pod/:uid/:container` },
  ]),
  { kind: 'portForward', path: '/portForward/:namespace/:pod' },
  { kind: 'portForward', path: '/portForward/:namespace/:pod/:uid' },
];

const NO_STREAMS: StreamOptions = { stdin: false, stdout: false, stderr: false, tty: false };

const refuse = (status: number, message: string): FoundStream => ({
  kind: 'refused',
  refusal: refusal(status, message),
});

/** Finds the pod and container for a stream request. Errors match upstream's. */
export function findStream(kubelet: Kubelet, request: StreamRequest): FoundStream {
  return request.kind === 'portForward' ? findPorts(kubelet, request) : findCommand(kubelet, request);
}

function findCommand(kubelet: Kubelet, { kind, params, query }: StreamRequest): FoundStream {
  const choice = streamChoice(query);
  if (choice === undefined) return refuse(400, 'you must specify at least 1 of stdin, stdout, stderr');
  const { namespace = '', pod: name = '', uid, container = '' } = params;
  const pod = kubelet.findPod(namespace, name);
  if (pod === undefined) return refuse(404, 'pod does not exist');
  const running = runningContainer(kubelet, pod, { uid, container });
  if (kind === 'exec') {
    if (running === undefined) return refuse(500, `container not found (${JSON.stringify(container)})`);
    const command = query.getAll('command');
    const open = () => streamUrl(kubelet.cri, { kind, containerId: running.id, command, choice });
    return { kind: 'found', stream: { kind, choice, open } };
  }
  if (running === undefined) return refuse(500, `container ${container} not found in pod ${fullName(pod)}`);
  // A container's terminal is allocated when the container is started, so the client's `tty` parameter does not matter.
  const tty = containerOf(pod, container)?.tty ?? false;
  const own = { ...choice, stderr: choice.stderr && !tty, tty };
  const open = () => streamUrl(kubelet.cri, { kind: 'attach', containerId: running.id, choice: own });
  return { kind: 'found', stream: { kind, choice: own, open } };
}

/**
 * Decodes which streams the client requests. Returns `undefined` if it requests none. `input`, `output` and `error` are the kubelet's
 * parameter names; the others are the API server's.
 */
export function streamChoice(query: URLSearchParams): StreamOptions | undefined {
  const tty = isSet(query, 'tty');
  const stdin = isSet(query, 'input') || isSet(query, 'stdin');
  const stdout = isSet(query, 'output') || isSet(query, 'stdout');
  const stderr = (isSet(query, 'error') || isSet(query, 'stderr')) && !tty;
  return stdin || stdout || stderr ? { stdin, stdout, stderr, tty } : undefined;
}

function findPorts(kubelet: Kubelet, { params, query, needsPorts }: StreamRequest): FoundStream {
  const ports = needsPorts ? readPorts(query.getAll('port')) : { kind: 'ports' as const, ports: [] };
  if (ports.kind === 'wrong') return refuse(400, ports.message);
  const { namespace = '', pod: name = '', uid } = params;
  const pod = kubelet.findPod(namespace, name);
  if (pod === undefined) return refuse(404, 'pod does not exist');
  if (uid !== undefined && uid !== pod.metadata.uid) return refuse(404, 'pod not found');
  const status = kubelet.runtimePods().find((one) => one.pod.uid === pod.metadata.uid);
  const sandbox = status?.sandboxes.find(({ ready }) => ready);
  if (sandbox === undefined) return refuse(500, `pod not found (${JSON.stringify(fullName(pod))})`);
  const kind = 'portForward';
  const open = () => streamUrl(kubelet.cri, { kind, sandboxId: sandbox.id, ports: ports.ports });
  return { kind: 'found', stream: { kind, choice: NO_STREAMS, open } };
}

type Ports = { kind: 'ports'; ports: number[] } | { kind: 'wrong'; message: string };

/** Decodes the `port` query parameters, each of which is a port or a comma-separated list of ports (upstream's NewV4Options). Pure. */
export function readPorts(values: string[]): Ports {
  const wrong = (message: string): Ports => ({ kind: 'wrong', message });
  if (values.length === 0) return wrong('query parameter "port" is required');
  const ports: number[] = [];
  for (const value of values) {
    if (value === '') return wrong('query parameter "port" cannot be empty');
    for (const text of value.split(',')) {
      const port = Number(text);
      if (!/^\d{1,10}$/.test(text) || port > 65_535)
        return wrong(`unable to parse ${JSON.stringify(value.slice(0, 100))} as a port`);
      if (port < 1) return wrong(`port ${JSON.stringify(text)} must be > 0`);
      ports.push(port);
    }
  }
  return { kind: 'ports', ports };
}

/** Requests the stream's URL from the container runtime. Errors use upstream's wording. */
export async function openStream(
  stream: Stream,
): Promise<{ kind: 'url'; url: string } | { kind: 'refused'; refusal: Refusal }> {
  try {
    return { kind: 'url', url: await stream.open() };
  } catch (error) {
    return { kind: 'refused', refusal: streamRefusal(error) };
  }
}

/** How long the container runtime retains a stream request (cacheTTL in the Go streaming server). */
const RETRY_AFTER_SECONDS = 60;

/** Converts a container runtime error to the response for the client (upstream's streaming.WriteError). */
function streamRefusal(error: unknown): Refusal {
  const text = rpcErrorText(error);
  switch (errorCode(error)) {
    case 'not_found':
      return refusal(404, text);
    case 'resource_exhausted':
      return { status: 429, message: text, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } };
    default:
      return refusal(500, text);
  }
}

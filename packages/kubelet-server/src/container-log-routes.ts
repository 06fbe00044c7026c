import { once } from 'node:events';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import { type Kubelet, readContainerLog } from '@podwright/kubelet';
import { type ApiCall, type ApiRoute, refusal, sendRefusal, sendText } from './api-route.ts';
import { writeNow } from './http/write-now.ts';
import { endOfLog } from './log-end.ts';
import { logOptions } from './log-options.ts';
import { containerOf } from './pod-lookup.ts';

/** Upstream's responses to invalid queries. */
const LOG_REFUSALS = {
  unreadable: refusal(400, '{"message": "Unable to decode query."}'),
  senseless: refusal(422, '{"message": "Invalid request."}'),
};

const ENDED = AbortSignal.abort();

/** Serves `/containerLogs/{namespace}/{pod}/{container}`. */
export function containerLogRoutes(kubelet: Kubelet): ApiRoute[] {
  const path = '/containerLogs/:namespace/:pod/:container';
  return [{ methods: ['GET'], path, access: 'debug', handler: (call) => sendContainerLog(kubelet, call) }];
}

async function sendContainerLog(
  kubelet: Kubelet,
  { request, response, query, params, signal }: ApiCall,
): Promise<void> {
  const { namespace = '', pod: name = '', container = '' } = params;
  const options = logOptions(query, Date.now());
  if (options.kind !== 'log') return sendRefusal(response, LOG_REFUSALS[options.kind]);
  const pod = kubelet.findPod(namespace, name);
  if (pod === undefined) return sendText(response, 404, `pod ${JSON.stringify(name)} does not exist`);
  if (containerOf(pod, container) === undefined)
    return sendText(response, 404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`);
  const attempt = attemptOf(pod, container, options.previous);
  if (attempt.kind === 'none') return sendText(response, 400, attempt.message);
  const file = logFile(kubelet, pod, { container, containerId: attempt.containerId });
  if (file === undefined)
    return sendText(response, 400, `unable to retrieve container logs for ${attempt.containerId}`);
  const follows = options.query.follow && file.running;
  const ended = follows ? endOfLog(kubelet, pod, { container, path: file.path, signal }) : ENDED;
  request.socket.setTimeout(0); // a container may be silent for long
  await using chunks = readContainerLog(file, options.query, { ended, signal });
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  // Followers receive the headers immediately. For other clients, the headers are sent with the first log data, so an error can still
  // change the status.
  if (options.query.follow) response.flushHeaders();
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next())
    if (!writeNow(response, chunk.value)) await once(response, 'drain', { signal });
  response.end();
}

/** Returns the log file of a container attempt, or `undefined` if the container no longer exists in the container runtime. */
function logFile(kubelet: Kubelet, pod: Pod, which: { container: string; containerId: string }) {
  try {
    return kubelet.containerLog(pod, { ...which, previous: false });
  } catch {
    return undefined;
  }
}

type Attempt = { kind: 'attempt'; containerId: string } | { kind: 'none'; message: string };

/**
 * Finds the container ID of the current or previous attempt in the pod's status, or explains why there is none (upstream's
 * validateContainerLogStatus). Pure.
 */
export function attemptOf({ metadata, status }: Pod, name: string, previous: boolean): Attempt {
  const lists = [status?.containerStatuses, status?.initContainerStatuses, status?.ephemeralContainerStatuses];
  const found = lists.flatMap((list) => list ?? []).find((one) => one.name === name);
  const where = `container ${JSON.stringify(name)} in pod ${JSON.stringify(metadata.name)}`;
  const none = (message: string): Attempt => ({ kind: 'none', message });
  if (found === undefined) return none(`${where} is not available`);
  const last = found.lastState?.terminated?.containerID || undefined;
  if (previous) return last ? { kind: 'attempt', containerId: last } : none(`previous terminated ${where} not found`);
  const now = attemptNow(found);
  const containerId = now ?? last;
  if (containerId) return { kind: 'attempt', containerId };
  const { terminated, waiting } = found.state;
  if (terminated !== undefined || found.lastState?.terminated !== undefined) return none(`${where} is terminated`);
  return none(`${where} is waiting to start${waitingWords(waiting?.reason)}`);
}

function attemptNow({ state, containerID }: ContainerStatus): string | undefined {
  if (state.running !== undefined) return containerID;
  return state.terminated?.containerID || undefined;
}

function waitingWords(reason: string | undefined): string {
  if (reason === undefined) return ' - no logs yet';
  if (reason === 'ErrImagePull') return ": image can't be pulled";
  return reason === 'ImagePullBackOff' ? ': trying and failing to pull image' : `: ${reason}`;
}

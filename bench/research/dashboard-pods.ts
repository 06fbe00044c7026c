/** Pods with plausible specs and statuses. Pure functions. */
import type { KubeObject } from '@podwright/kube-api';

export type PodState = 'ready' | 'crashing' | 'no image' | 'starting' | 'completed';

/** `isReady`: whether the readiness probe of a pod in the state `ready` succeeds. */
export type LoadPod = { name: string; uid: string; state: PodState; isReady: boolean; restarts: number };

const IMAGE = 'registry.example/shop/web:1.4';
const VARIABLES = 12;

/** Returns a pod to be created. `app`: a number for its label. */
export function podOf(
  { name }: LoadPod,
  { namespace, node, app }: { namespace: string; node: string; app: number },
): KubeObject {
  const resources = { requests: { cpu: '1m', memory: '8Mi' }, limits: { memory: '64Mi' } };
  const main = {
    ...{ name: 'main', image: IMAGE, resources, ports: [{ containerPort: 8080 }] },
    env: Array.from({ length: VARIABLES }, (_, index) => ({ name: `NAME_${index}`, value: `value of ${index}` })),
    readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 },
  };
  const spec = {
    ...{ nodeName: node, automountServiceAccountToken: false, tolerations: [{ operator: 'Exists' }] },
    containers: [main, { name: 'proxy', image: 'registry.example/mesh/proxy:2', resources }],
  };
  const labels = { app: `app-${app}`, tier: 'front', 'pod-template-hash': 'abcdef1234' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec } as KubeObject;
}

const PHASES: Record<PodState, string> = {
  ready: 'Running',
  crashing: 'Running',
  'no image': 'Pending',
  starting: 'Pending',
  completed: 'Succeeded',
};

/** Returns the status of a pod. `time`: the time of its last change (RFC 3339). */
export function statusOf(pod: LoadPod, time: string): object {
  const isReady = pod.state === 'ready' && pod.isReady;
  const isRunning = pod.state === 'ready' || pod.state === 'crashing';
  const condition = (type: string, isTrue: boolean) => ({
    ...{ type, status: isTrue ? 'True' : 'False', lastTransitionTime: time },
    ...(!isTrue && { reason: 'ContainersNotReady', message: 'containers with unready status: [main]' }),
  });
  return {
    ...{ phase: PHASES[pod.state], startTime: time, hostIP: '192.0.2.1', podIP: '192.0.2.2' },
    podIPs: [{ ip: '192.0.2.2' }],
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', isReady),
      condition('Ready', isReady),
    ],
    containerStatuses: [
      { ...containerOf('main', isReady), ...mainOf(pod, time), restartCount: pod.restarts },
      { ...containerOf('proxy', isRunning), state: isRunning ? { running: { startedAt: time } } : CREATING },
    ],
  };
}

const CREATING = { waiting: { reason: 'ContainerCreating' } };

function mainOf({ state, restarts }: LoadPod, time: string): { state: object; lastState: object } {
  const ended = (exitCode: number, reason: string) => ({
    terminated: { exitCode, reason, startedAt: time, finishedAt: time },
  });
  const lastState = restarts > 0 ? ended(3, 'Error') : {};
  const waiting = (reason: string, message: string) => ({ waiting: { reason, message } });
  const states: Record<PodState, object> = {
    ready: { running: { startedAt: time } },
    crashing: waiting('CrashLoopBackOff', 'back-off 5m0s restarting failed container=main'),
    'no image': waiting('ImagePullBackOff', `Back-off pulling image "${IMAGE}"`),
    starting: CREATING,
    completed: ended(0, 'Completed'),
  };
  return { state: states[state], lastState };
}

const containerOf = (name: string, ready: boolean) => ({
  ...{ name, ready, started: ready, restartCount: 0, lastState: {}, image: IMAGE },
  imageID: `registry.example/shop/web@sha256:${'ab'.repeat(32)}`,
  containerID: `podwright://${'cd'.repeat(32)}`,
});

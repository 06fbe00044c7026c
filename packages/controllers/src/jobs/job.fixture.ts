import type { ContainerStatus, Pod, PodPhase } from '@podwright/kube-api';
import { JOBS, type Job, type JobSpec, type JobStatus } from '../objects/job.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { TRACKING_FINALIZER } from './job-pod.ts';

export const SELECTOR = { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } };

/** A stored Job with the API server's defaults. */
export function newJob(spec: Partial<JobSpec> = {}, status?: JobStatus): Job {
  const template = {
    metadata: { labels: SELECTOR.matchLabels },
    spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'busybox' }] },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'shop', name: 'report', uid: 'u1', generation: 1 },
    spec: { parallelism: 1, completions: 1, backoffLimit: 6, selector: SELECTOR, template, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

export type PodOptions = {
  phase?: PodPhase;
  index?: number;
  annotations?: Record<string, string>;
  exitCode?: number;
  /** When the pod's containers terminated, in seconds past the minute. */
  endedAt?: number;
  isDeleting?: boolean;
  isCounted?: boolean;
  isReady?: boolean;
  restarts?: number;
};

/** A pod owned by the Job returned by `newJob`. */
export function jobPod(name: string, options: PodOptions = {}): Pod {
  const { phase = 'Running', index, annotations, isDeleting = false, isCounted = false } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      labels: SELECTOR.matchLabels,
      annotations: {
        ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) }),
        ...annotations,
      },
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 } : {}),
      ownerReferences: [controllerReference(JOBS, newJob())],
      ...(isCounted ? {} : { finalizers: [TRACKING_FINALIZER] }),
    },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'busybox' }] },
    status: {
      phase,
      conditions: options.isReady === true ? [{ type: 'Ready', status: 'True' }] : [],
      containerStatuses: [containerStatus(options)],
    },
  };
}

function containerStatus({ phase, exitCode = phase === 'Failed' ? 1 : 0, endedAt = 10, restarts = 0 }: PodOptions) {
  const finishedAt = `2026-01-01T00:00:${String(endedAt).padStart(2, '0')}Z`;
  const hasEnded = phase === 'Failed' || phase === 'Succeeded';
  const state = hasEnded ? { terminated: { exitCode, finishedAt } } : {};
  const fixed = { lastState: {}, ready: false, image: 'busybox', imageID: '' };
  return { name: 'main', restartCount: restarts, state, ...fixed } satisfies ContainerStatus;
}

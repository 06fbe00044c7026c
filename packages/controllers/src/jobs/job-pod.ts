/** The labels, annotations and finalizers that the controller sets on a Job's pods, and the pods that it creates. */
import type { Container, Pod } from '@podwright/kube-api';
import { JOBS, type Job } from '../objects/job.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { type NewPod, podFromTemplate } from '../pods/pod-template.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';

/** The Job finalizer. Keeps a pod from being removed until its Job's status has counted it. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** The completion index of an Indexed Job's pod, set both as a label and as an annotation. */
const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
const IGNORED_INDEX_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
/** Longest name prefix to which the server can append five characters (names.MaxGeneratedNameLength). */
const MAX_PREFIX_LENGTH = 58;

export function hasTrackingFinalizer({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

/** Returns the completion index from the pod's annotation, or `undefined` if it is missing or invalid. */
export function completionIndex({ metadata }: Pod): number | undefined {
  return countIn(metadata.annotations?.[COMPLETION_INDEX]);
}

/** Returns the number of earlier failures of the pod's index that count towards its backoff limit. */
export function indexFailures({ metadata }: Pod): number {
  return countIn(metadata.annotations?.[INDEX_FAILURES]) ?? 0;
}

/** Returns the total number of earlier failures of the pod's index, including those that do not count towards its backoff limit. */
export function absoluteFailures(pod: Pod): number {
  return indexFailures(pod) + ignoredFailures(pod);
}

function ignoredFailures({ metadata }: Pod): number {
  return countIn(metadata.annotations?.[IGNORED_INDEX_FAILURES]) ?? 0;
}

function countIn(text = ''): number | undefined {
  const count = Number(text);
  return /^\+?\d+$/.test(text) && count < 2 ** 31 ? count : undefined;
}

/** Builds a pod of a non-indexed Job. */
export function newPod(job: Job): NewPod {
  return withFinalizer(podFromTemplate(job.spec.template, controllerReference(JOBS, job), job.metadata.name));
}

/**
 * Builds the pod for a completion index of an Indexed Job. With a per-index backoff limit, `replaced` is the failed pod whose failure count
 * it takes over, if any.
 */
export function newIndexPod(job: Job, index: number, replaced: Pod | undefined): NewPod {
  const pod = newPod(job);
  const { metadata, spec } = pod;
  const annotations = {
    ...metadata.annotations,
    [COMPLETION_INDEX]: String(index),
    ...(job.spec.backoffLimitPerIndex === undefined ? {} : failureAnnotations(job, replaced)),
  };
  const { initContainers } = spec;
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: namePrefix(job.metadata.name, index),
      labels: { ...metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations,
    },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: spec.containers.map(withIndexVariable),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withIndexVariable) }),
    },
  };
}

function withFinalizer(pod: NewPod): NewPod {
  const { finalizers = [] } = pod.metadata;
  if (finalizers.includes(TRACKING_FINALIZER)) return pod;
  return { ...pod, metadata: { ...pod.metadata, finalizers: [...finalizers, TRACKING_FINALIZER] } };
}

function failureAnnotations(job: Job, replaced: Pod | undefined): Record<string, string> {
  const counts = replaced !== undefined && matchPodFailurePolicy(job.spec.podFailurePolicy, replaced).counts;
  const failures = replaced === undefined ? 0 : indexFailures(replaced) + (counts ? 1 : 0);
  const ignored = replaced === undefined ? 0 : ignoredFailures(replaced) + (counts ? 0 : 1);
  return {
    [INDEX_FAILURES]: String(failures),
    ...(ignored === 0 ? {} : { [IGNORED_INDEX_FAILURES]: String(ignored) }),
  };
}

function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
}

function namePrefix(jobName: string, index: number): string {
  const suffix = `-${index}-`;
  return `${jobName.slice(0, MAX_PREFIX_LENGTH - suffix.length)}${suffix}`;
}

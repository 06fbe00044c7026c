import type { Deployment, DeploymentStrategy } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { newReplicaSet } from './new-replica-set.ts';

export const NOW_MS = Date.UTC(2026, 0, 2);
const LABELS = { app: 'web' };

type Spec = Partial<Omit<Deployment['spec'], 'strategy'>> & { image?: string; strategy?: DeploymentStrategy };
export type Changes = {
  spec?: Spec;
  metadata?: Partial<Deployment['metadata']>;
  status?: Deployment['status'];
};

/** Builds a Deployment, by default with 10 replicas, a surge of 3, and at most 2 unavailable. */
export function testDeployment({ spec = {}, metadata = {}, status = {} }: Changes = {}): Deployment {
  const { image = 'v1', ...rest } = spec;
  return {
    metadata: { namespace: 'shop', name: 'web', uid: 'u1', generation: 1, ...metadata },
    spec: {
      replicas: 10,
      selector: { matchLabels: LABELS },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      ...rest,
      template: { metadata: { labels: LABELS }, spec: { containers: [{ name: 'c', image }] } },
    },
    status,
  };
}

export type TestSet = {
  image: string;
  size: number;
  /** Number of the ReplicaSet's available pods. Default: all. */
  available?: number;
  /** Number of the ReplicaSet's existing pods. Default: `size`. */
  pods?: number;
  revision?: number;
  annotations?: Record<string, string>;
};

/** Builds a ReplicaSet of the Deployment. It is named after the image; its creation time follows from the revision. */
export function testSet(
  deployment: Deployment,
  { image, size, pods = size, available = pods, ...rest }: TestSet,
): ReplicaSet {
  const { revision = Number(image.replace('v', '')), annotations } = rest;
  const of = testDeployment({ spec: { ...deployment.spec, image } });
  const made = newReplicaSet({ ...of, metadata: deployment.metadata }, size, revision);
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, revision)).toISOString();
  const counts = { replicas: pods, readyReplicas: available, availableReplicas: available, terminatingReplicas: 0 };
  return {
    ...made,
    metadata: {
      ...made.metadata,
      name: image,
      uid: `uid-${image}`,
      generation: 1,
      creationTimestamp,
      annotations: { ...made.metadata.annotations, ...annotations },
    },
    status: { ...counts, observedGeneration: 1 },
  };
}

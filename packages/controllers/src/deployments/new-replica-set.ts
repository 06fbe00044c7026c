import { DEPLOYMENTS, type Deployment } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { newSetAnnotations, withSizes } from './replica-set-annotations.ts';
import { HASH_LABEL, replicaSetName, templateHash } from './template-identity.ts';

/** A ReplicaSet before its creation, without a UID. */
export type NewReplicaSet = Omit<ReplicaSet, 'metadata'> & { metadata: Omit<ReplicaSet['metadata'], 'uid'> };

/** Builds the ReplicaSet for a Deployment's template. Its name depends only on the template, so it is not created twice. */
export function newReplicaSet(deployment: Deployment, size: number, revision: number): NewReplicaSet {
  const { metadata, spec } = deployment;
  const { selector, template, minReadySeconds } = spec;
  const hash = templateHash(deployment);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: replicaSetName(metadata.name, hash),
      namespace: metadata.namespace,
      labels,
      annotations: withSizes(deployment, newSetAnnotations(deployment, {}, revision)),
      ownerReferences: [controllerReference(DEPLOYMENTS, deployment)],
    },
    spec: {
      replicas: size,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

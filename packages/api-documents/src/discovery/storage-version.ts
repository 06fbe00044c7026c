import { createHash } from 'node:crypto';
import { groupResource } from '@podwright/api-machinery';
import type { Resource } from '@podwright/kube-schema';
import type { ApiGroup } from './group-versions.ts';

/** Upstream's storage versions of resources whose storage version is not their group's preferred version. */
const STORAGE_VERSIONS: Readonly<Record<string, { group: string; version: string }>> = {
  'customresourcedefinitions.apiextensions.k8s.io': { group: 'apiextensions.k8s.io', version: 'v1beta1' },
  'devicetaintrules.resource.k8s.io': { group: 'resource.k8s.io', version: 'v1alpha3' },
  'events.events.k8s.io': { group: '', version: 'v1' },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': {
    group: 'admissionregistration.k8s.io',
    version: 'v1beta1',
  },
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': {
    group: 'admissionregistration.k8s.io',
    version: 'v1beta1',
  },
};

/**
 * Returns a hash of the resource's storage version. Clients compare it to detect that stored objects need migration. Returns `undefined`
 * for resources that are never stored, such as reviews.
 */
export function storageVersionHash({ versions }: ApiGroup, resource: Resource): string | undefined {
  if (!resource.verbs.includes('watch')) return undefined;
  const { plural, kind } = resource;
  const preferred = versions.find(({ resources }) => resources.some((one) => one.plural === plural)) ?? resource;
  const { storageVersion } = resource;
  const stored = storageVersion === undefined ? preferred : { group: resource.group, version: storageVersion };
  const { group, version } = STORAGE_VERSIONS[groupResource(resource)] ?? stored;
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}

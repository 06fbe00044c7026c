import { type Finding, isExtendedResource, ObjectFindings, type Pod } from '@podwright/kube-api';

/** What a node offers to pods; without one that runs nobody knows what device plugins offer. */
type Offer = { resources: Readonly<Record<string, bigint>>; isRunning: boolean };

/** What containers ask for of device plugins and none offers: on a lone node their pod waits for it. */
export function missingDevices(pod: Pod, { resources: offered, isRunning }: Offer): Finding[] {
  const findings = new ObjectFindings(pod);
  for (const field of ['initContainers', 'containers'] as const)
    for (const [index, { resources }] of (pod.spec[field] ?? []).entries())
      for (const name of Object.keys(resources?.limits ?? {}).filter(isExtendedResource)) {
        if (offered[name] !== undefined) continue;
        const path = ['spec', field, index, 'resources', 'limits', name];
        if (isRunning) findings.problem(path, `no device plugin offers ${name} now; the pod waits until one does`);
        else findings.note(path, `the pod waits until a device plugin offers ${name}, which only a running node knows`);
      }
  return findings.list;
}

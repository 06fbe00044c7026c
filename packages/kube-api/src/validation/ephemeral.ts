import type { IssueList } from '../issue.ts';
import { allContainers, type EphemeralContainer, type PodSpec } from '../objects/types.ts';
import { validateContainer } from './container.ts';
import { each } from './rules.ts';

/** Fields not allowed in ephemeral containers. */
const REFUSED = [
  'ports',
  'resources',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const satisfies (keyof EphemeralContainer)[];

/** Validates a pod's ephemeral containers by the API server's rules. Defaults must have been set. */
export function validateEphemeralContainers(spec: PodSpec, issues: IssueList): void {
  const others = new Set(allContainers(spec).map(({ name }) => name));
  const names = new Set(others);
  each(spec.ephemeralContainers, issues, (container, place) => {
    validateContainer(container, spec, place);
    if (names.has(container.name)) place.at('name').add(`container "${container.name}" already exists`);
    names.add(container.name);
    const target = container.targetContainerName;
    if (target && !others.has(target))
      place.at('targetContainerName').add(`the pod has no container "${target}"; it has ${[...others].join(', ')}`);
    refuseFields(container, place);
  });
}

function refuseFields(container: EphemeralContainer, issues: IssueList): void {
  for (const field of REFUSED)
    if (container[field] !== undefined) issues.at(field).addKey('cannot be set for an ephemeral container');
  each(container.volumeMounts, issues.at('volumeMounts'), (mount, place) => {
    if (mount.subPath) place.at('subPath').addKey('cannot be set for an ephemeral container');
    if (mount.subPathExpr) place.at('subPathExpr').addKey('cannot be set for an ephemeral container');
  });
}

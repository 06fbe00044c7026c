import type { IssueList } from '../issue.ts';
import type { PodSecurityContext, PodSpec, SecurityContext, SecurityProfile, Sysctl } from '../objects/types.ts';
import { dottedSysctl } from '../values/sysctl.ts';
import { each, MAX_ID, unique, within } from './rules.ts';

/** Validates a pod's security context. */
export function validatePodSecurity(context: PodSecurityContext, spec: PodSpec, issues: IssueList): void {
  validateIds(context, issues);
  within(context.fsGroup, { min: 0, max: MAX_ID }, issues.at('fsGroup'));
  each(context.supplementalGroups, issues.at('supplementalGroups'), (group, place) =>
    within(group, { min: 0, max: MAX_ID }, place),
  );
  const sysctls = context.sysctls ?? [];
  unique(sysctls, ({ name }) => dottedSysctl(name), { issues: issues.at('sysctls'), field: 'name', what: 'sysctl' });
  each(sysctls, issues.at('sysctls'), (sysctl, place) => validateSysctl(sysctl, spec, place.at('name')));
}

/** Validates a container's security context. */
export function validateSecurity(context: SecurityContext, spec: PodSpec, issues: IssueList): void {
  validateIds(context, issues);
  if (context.procMount === 'Unmasked' && spec.hostUsers !== false) {
    issues.at('procMount').add('Unmasked needs a user namespace: hostUsers: false');
  }
  if (context.allowPrivilegeEscalation !== false) return;
  const place = issues.at('allowPrivilegeEscalation');
  if (context.privileged === true) place.add('must not be false for a privileged container');
  // upstream only checks for the spelling with the `CAP_` prefix
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) place.add('must not be false while CAP_SYS_ADMIN is added');
}

type Identity = Pick<SecurityContext, 'runAsUser' | 'runAsGroup' | 'seccompProfile' | 'appArmorProfile'>;

function validateIds(context: Identity, issues: IssueList): void {
  within(context.runAsUser, { min: 0, max: MAX_ID }, issues.at('runAsUser'));
  within(context.runAsGroup, { min: 0, max: MAX_ID }, issues.at('runAsGroup'));
  if (context.appArmorProfile) validateProfile(context.appArmorProfile, issues.at('appArmorProfile'));
  const seccomp = context.seccompProfile;
  if (seccomp === undefined) return;
  validateProfile(seccomp, issues.at('seccompProfile'));
  const path = seccomp.localhostProfile;
  if (path !== undefined && (path.startsWith('/') || path.split('/').includes('..'))) {
    issues.at('seccompProfile', 'localhostProfile').add(`must be a relative path without "..", got "${path}"`);
  }
}

function validateProfile(profile: SecurityProfile, issues: IssueList): void {
  const place = issues.at('localhostProfile');
  if (profile.type === 'Localhost' && !profile.localhostProfile) place.addKey('is required for the type Localhost');
  if (profile.type !== 'Localhost' && profile.localhostProfile !== undefined)
    place.addKey('may only be set for the type Localhost');
}

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const ipcSysctl = /^(kernel\.(shm|msg)|kernel\.sem$|fs\.mqueue\.)/;

/** Allows only namespaced sysctls; others would affect the host. */
function validateSysctl({ name }: Sysctl, spec: PodSpec, issues: IssueList): void {
  if (name.length > 253 || !sysctlName.test(name)) {
    issues.add(`must be a sysctl name such as net.core.somaxconn, got "${name}"`);
    return;
  }
  const dots = dottedSysctl(name);
  const isNet = dots.startsWith('net.');
  if (!isNet && !ipcSysctl.test(dots))
    issues.add(`"${name}" is not a setting of a namespace and would change the whole host`);
  if (isNet && spec.hostNetwork) issues.add(`"${name}" must not be set while hostNetwork is true`);
  if (!isNet && spec.hostIPC) issues.add(`"${name}" must not be set while hostIPC is true`);
}

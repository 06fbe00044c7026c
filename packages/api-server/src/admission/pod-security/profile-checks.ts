/** AppArmor, SELinux and seccomp checks. */
import { type JsonObject, objectAt, textAt, valueAt } from '@podwright/kube-kinds';
import {
  type CheckedPod,
  type CheckPod,
  containerList,
  containersOf,
  plural,
  quotedNames,
  setters,
  sorted,
  type Violation,
} from './check.ts';

const APP_ARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const PROFILE_TYPES = ['RuntimeDefault', 'Localhost'];

/** Returns a profile's type from a pod's or container's security context, or `undefined` if no profile is set. */
const typeOf = (value: unknown, field: string): string | undefined =>
  objectAt(value, 'securityContext', field) && textAt(value, 'securityContext', field, 'type');

const isBad = (field: string) => (value: unknown) => {
  const type = typeOf(value, field);
  return type !== undefined && !PROFILE_TYPES.includes(type);
};

export const appArmorProfile: CheckPod = ({ annotations, spec }) => {
  const isBadProfile = isBad('appArmorProfile');
  const bad = containersOf(spec).filter(isBadProfile);
  const notes = forbiddenAnnotations(annotations);
  const types = [...(isBadProfile(spec) ? [spec] : []), ...bad].map((one) => typeOf(one, 'appArmorProfile')!);
  const values = [...sorted(types), ...notes];
  if (values.length === 0) return undefined;
  const who = [setters(isBadProfile(spec), bad), notes.length === 0 ? '' : plural('annotation', notes.length)];
  return {
    reason: plural('forbidden AppArmor profile', values.length),
    detail: `${who.filter((one) => one !== '').join(' and ')} must not set AppArmor profile type to ${quotedNames(values)}`,
  };
};

function forbiddenAnnotations(annotations: JsonObject): string[] {
  const isAllowed = (value: string) => value === '' || value === 'runtime/default' || value.startsWith('localhost/');
  return Object.keys(annotations)
    .filter((key) => key.startsWith(APP_ARMOR_PREFIX) && !isAllowed(textAt(annotations, key)))
    .map((key) => `${key}=${JSON.stringify(textAt(annotations, key))}`)
    .sort();
}

const SELINUX_0 = ['', 'container_t', 'container_init_t', 'container_kvm_t'];
/** The allowed SELinux types, by the minor version that introduced the list. */
export const SELINUX_TYPES = { 0: SELINUX_0, 31: [...SELINUX_0, 'container_engine_t'] };

export const seLinuxOptions =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const optionsOf = (value: unknown) => objectAt(value, 'securityContext', 'seLinuxOptions');
    const isBadOptions = (value: unknown) => {
      const options = optionsOf(value);
      return (
        options !== undefined &&
        (!allowed.includes(textAt(options, 'type')) || isSet(options, 'user') || isSet(options, 'role'))
      );
    };
    const bad = containersOf(spec).filter(isBadOptions);
    const all = [...(isBadOptions(spec) ? [spec] : []), ...bad].map((one) => optionsOf(one)!);
    if (all.length === 0) return undefined;
    const types = sorted(all.map((options) => textAt(options, 'type')).filter((type) => !allowed.includes(type)));
    const data = [
      ...(types.length === 0 ? [] : [`${plural('type', types.length)} ${quotedNames(types)}`]),
      ...['user', 'role']
        .filter((field) => all.some((options) => isSet(options, field)))
        .map((field) => `${field} may not be set`),
    ];
    const who = setters(isBadOptions(spec), bad);
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  };

const isSet = (options: JsonObject, field: string): boolean => textAt(options, field) !== '';

const POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER_ANNOTATION = 'container.seccomp.security.alpha.kubernetes.io/';

/** Checks the annotations that set seccomp profiles until Kubernetes 1.19. */
export const seccompAnnotations: CheckPod = ({ annotations, spec }) => {
  const keys = [POD_ANNOTATION, ...containersOf(spec).map((one) => `${CONTAINER_ANNOTATION}${textAt(one, 'name')}`)];
  const isAllowed = (value: string) =>
    value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
  const bad = keys.filter((key) => valueAt(annotations, key) !== undefined && !isAllowed(textAt(annotations, key)));
  const shown = sorted(bad.map((key) => `${key}=${JSON.stringify(textAt(annotations, key))}`));
  if (shown.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${plural('annotation', shown.length)} ${shown.join(', ')}` };
};

export const baselineSeccomp: CheckPod = ({ spec }) => badSeccomp(spec);

/** Requires a seccomp profile for each container, set either on the container or on the pod. */
export const restrictedSeccomp: CheckPod = ({ spec }: CheckedPod) => {
  const bad = badSeccomp(spec);
  if (bad !== undefined || typeOf(spec, 'seccompProfile') !== undefined) return bad;
  const missing = containersOf(spec).filter((container) => typeOf(container, 'seccompProfile') === undefined);
  if (missing.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containerList(missing)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

function badSeccomp(spec: unknown): Violation | undefined {
  const isBadProfile = isBad('seccompProfile');
  const bad = containersOf(spec).filter(isBadProfile);
  const all = [...(isBadProfile(spec) ? [spec] : []), ...bad];
  if (all.length === 0) return undefined;
  const types = quotedNames(sorted(all.map((one) => typeOf(one, 'seccompProfile')!)));
  const who = setters(isBadProfile(spec), bad);
  return { reason: 'seccompProfile', detail: `${who} must not set securityContext.seccompProfile.type to ${types}` };
}

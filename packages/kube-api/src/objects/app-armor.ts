import { type Container, everyContainer, type Pod, type SecurityProfile } from './types.ts';

/** Prefix of the annotations that specified the AppArmor profiles of containers before there was a field for them. */
const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST_PREFIX = 'localhost/';

/** Returns the container's AppArmor profile: from its field, its annotation or the pod's field, in this order of precedence. */
export function appArmorProfile(pod: Pod, container: Container): SecurityProfile | undefined {
  return (
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod.metadata.annotations ?? {}, container.name) ??
    pod.spec.securityContext?.appArmorProfile
  );
}

/** Whether the pod requests a profile that requires a host with AppArmor. */
export function wantsAppArmor(pod: Pod): boolean {
  const { securityContext, ephemeralContainers = [] } = pod.spec;
  const contexts = [
    securityContext,
    ...[...everyContainer(pod.spec), ...ephemeralContainers].map((one) => one.securityContext),
  ];
  const profiles = contexts.flatMap((one) => one?.appArmorProfile ?? []);
  if (profiles.some(({ type }) => type !== 'Unconfined')) return true;
  const annotations = Object.entries(pod.metadata.annotations ?? {});
  return annotations.some(([key, value]) => key.startsWith(ANNOTATION_PREFIX) && value !== 'unconfined');
}

/** Parses the profile in the container's AppArmor annotation; returns `undefined` if the annotation is invalid. */
function annotatedProfile(annotations: Record<string, string>, container: string): SecurityProfile | undefined {
  const key = `${ANNOTATION_PREFIX}${container}`;
  const value = Object.hasOwn(annotations, key) ? annotations[key]! : '';
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  if (!value.startsWith(LOCALHOST_PREFIX)) return undefined;
  return { type: 'Localhost', localhostProfile: value.slice(LOCALHOST_PREFIX.length) };
}

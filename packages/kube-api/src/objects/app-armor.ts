import { type Container, everyContainer, type Pod, type SecurityProfile } from './types.ts';

/** The annotation with a container's profile, from before the field existed. */
const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST_PREFIX = 'localhost/';

/** The container's AppArmor profile: its field, the old annotation, or the pod's field. */
export function appArmorProfile(pod: Pod, container: Container): SecurityProfile | undefined {
  return (
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod.metadata.annotations ?? {}, container.name) ??
    pod.spec.securityContext?.appArmorProfile
  );
}

/** Whether a pod requests a profile that requires a host with AppArmor. */
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

/** Invalid values count as absent. */
function annotatedProfile(annotations: Record<string, string>, container: string): SecurityProfile | undefined {
  const key = `${ANNOTATION_PREFIX}${container}`;
  const value = Object.hasOwn(annotations, key) ? annotations[key]! : '';
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  if (!value.startsWith(LOCALHOST_PREFIX)) return undefined;
  return { type: 'Localhost', localhostProfile: value.slice(LOCALHOST_PREFIX.length) };
}

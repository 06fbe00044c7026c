import { type Container, everyContainer, type Pod, type SecurityProfile } from './types.ts';

/** The annotation of a container's profile that pods had before there was a field for it. */
const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST_PREFIX = 'localhost/';

/** The container's AppArmor profile: its own field, the annotation of old, or the pod's field. */
export function appArmorProfile(pod: Pod, container: Container): SecurityProfile | undefined {
  return (
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod.metadata.annotations ?? {}, container.name) ??
    pod.spec.securityContext?.appArmorProfile
  );
}

/** Whether a pod asks for a profile that only a host with AppArmor can give. */
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

/** Values that are none count as absent. */
function annotatedProfile(annotations: Record<string, string>, container: string): SecurityProfile | undefined {
  const key = `${ANNOTATION_PREFIX}${container}`;
  const value = Object.hasOwn(annotations, key) ? annotations[key]! : '';
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  if (!value.startsWith(LOCALHOST_PREFIX)) return undefined;
  return { type: 'Localhost', localhostProfile: value.slice(LOCALHOST_PREFIX.length) };
}

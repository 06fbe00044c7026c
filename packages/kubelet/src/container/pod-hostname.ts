import type { Pod } from '../api/types.ts';

/** Linux allows 64 bytes for a host name, a DNS label has 63. */
const MAX_HOSTNAME_LENGTH = 63;

/** The pod's host name: `spec.hostname` or its name, cut to a DNS label; fully qualified if the pod asks for that. */
export function podHostname(pod: Pod, clusterDomain: string): string {
  const wanted = pod.spec.hostname === undefined || pod.spec.hostname === '' ? pod.metadata.name : pod.spec.hostname;
  const short = wanted.slice(0, MAX_HOSTNAME_LENGTH).replace(/[-.]+$/, '');
  const subdomain = pod.spec.subdomain ?? '';
  if (pod.spec.setHostnameAsFQDN !== true || subdomain === '') return short;
  return `${short}.${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
}

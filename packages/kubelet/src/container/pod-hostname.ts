import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';

/** Maximum length of a DNS label, to which hostnames derived from a pod's name are truncated; a Linux hostname may have up to 64 bytes. */
const MAX_LABEL_LENGTH = 63;
const MAX_HOSTNAME_LENGTH = 64;

/** A pod's short hostname and its domain, '' if it has none. */
export type PodNames = { hostname: string; domain: string };

/**
 * Returns `spec.hostnameOverride`, without a domain, if it is set. Otherwise returns `spec.hostname` or the pod's name, truncated to a DNS
 * label, and the domain derived from `spec.subdomain`.
 */
export function podNames(pod: Pod, clusterDomain: string): PodNames {
  const { hostnameOverride, hostname = '', subdomain = '' } = pod.spec;
  const wanted = hostnameOverride ?? (hostname === '' ? pod.metadata.name : hostname);
  const domain =
    hostnameOverride === undefined && subdomain !== ''
      ? `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`
      : '';
  const cut = wanted.length > MAX_LABEL_LENGTH ? wanted.slice(0, MAX_LABEL_LENGTH).replace(/[-.]+$/, '') : wanted;
  return { hostname: cut, domain };
}

/**
 * Returns the pod's hostname, which is fully qualified if `setHostnameAsFQDN` is set. Throws `invalid_argument` if it exceeds the kernel's
 * limit.
 */
export function podHostname(pod: Pod, clusterDomain: string): string {
  const { hostname, domain } = podNames(pod, clusterDomain);
  if (pod.spec.setHostnameAsFQDN !== true || domain === '') return hostname;
  const name = `${hostname}.${domain}`;
  if (name.length <= MAX_HOSTNAME_LENGTH) return name;
  throw new PodwrightError(
    'invalid_argument',
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long (${MAX_HOSTNAME_LENGTH} characters is the max, ${name.length} characters requested)`,
  );
}

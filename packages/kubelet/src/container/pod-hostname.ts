import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';

/** Linux allows 64 bytes for a host name, a DNS label has 63. */
const MAX_LABEL_LENGTH = 63;
const MAX_HOSTNAME_LENGTH = 64;

/** A pod's short hostname and its domain, '' for none. */
export type PodNames = { hostname: string; domain: string };

/** `spec.hostnameOverride` without a domain; else `spec.hostname` or the pod's name, cut to a DNS label, in the domain of `spec.subdomain`. */
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

/** The pod's hostname, fully qualified with `setHostnameAsFQDN`. Throws `invalid_argument` if that is longer than the kernel allows. */
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

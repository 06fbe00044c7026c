/**
 * The directory in which each node with a Kubernetes API on this host locks its Service range and records what it has added to the host.
 */
export const SERVICE_CLAIMS = '/run/podwright-services';

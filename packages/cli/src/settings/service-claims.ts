/**
 * The directory in which each node of the host with a Kubernetes API locks its range of Services, and records what it has added to the
 * host.
 */
export const SERVICE_CLAIMS = '/run/podwright-services';

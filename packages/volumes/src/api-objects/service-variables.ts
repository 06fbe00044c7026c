import type { Service } from '@podwright/kube-api';

/** Namespace of the `kubernetes` Service, whose environment variables every pod gets (the kubelet's masterServices). */
const MASTER_NAMESPACE = 'default';
const MASTER_SERVICE = 'kubernetes';

/** How pods reach the API server: at an address, or not at all if `endpoint` is undefined. */
export type PodAccess = { endpoint: { address: string; port: number } | undefined };

/** The pod for which the service environment variables are generated. */
export type ServiceClient = { namespace: string; enableServiceLinks: boolean };

/**
 * Returns the services as seen by pods: with the address and port of `access` in the `kubernetes` Service, or without that Service if pods
 * cannot reach the API server. Unchanged if `access` is undefined.
 */
export function reachableServices(services: readonly Service[], access: PodAccess | undefined): readonly Service[] {
  if (access === undefined) return services;
  const { endpoint } = access;
  return services.flatMap((service) => {
    if (!isMaster(service)) return [service];
    if (endpoint === undefined) return [];
    const ports = [{ name: 'https', port: endpoint.port, protocol: 'TCP' }];
    return [{ ...service, spec: { ...service.spec, clusterIP: endpoint.address, ports } }];
  });
}

const isMaster = ({ metadata: { namespace, name } }: Service): boolean =>
  namespace === MASTER_NAMESPACE && name === MASTER_SERVICE;

/**
 * Returns the service environment variables for containers (pkg/kubelet/envvars): those for services in the pod's namespace and for the API
 * server. Pure.
 */
export function serviceVariables(services: readonly Service[], client: ServiceClient): Map<string, string> {
  const visible = services.filter((service) => hasAddress(service) && isVisible(service, client));
  const sorted = visible.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  // services in the pod's own namespace win if both define a variable
  const [own, others] = [true, false].map((wanted) =>
    sorted.filter(({ metadata }) => (metadata.namespace === client.namespace) === wanted),
  );
  return new Map([...others!, ...own!].flatMap(variablesOf));
}

function hasAddress({ spec }: Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None';
}

function isVisible(service: Service, client: ServiceClient): boolean {
  if (isMaster(service)) return true;
  return client.enableServiceLinks && service.metadata.namespace === client.namespace;
}

function variablesOf({ metadata, spec }: Service): [string, string][] {
  const address = spec.clusterIP!;
  const ports = spec.ports ?? [];
  const prefix = variableName(metadata.name);
  if (ports.length === 0) return [[`${prefix}_SERVICE_HOST`, address]];
  const named = ports.filter(({ name }) => name !== undefined && name !== '');
  return [
    [`${prefix}_SERVICE_HOST`, address],
    [`${prefix}_SERVICE_PORT`, String(ports[0]!.port)],
    ...named.map(({ name, port }): [string, string] => [`${prefix}_SERVICE_PORT_${variableName(name!)}`, String(port)]),
    [`${prefix}_PORT`, linkOf(address, ports[0]!)],
    ...ports.flatMap((port) => linkVariables(prefix, address, port)),
  ];
}

type ServicePort = { port: number; protocol?: string };

/** Returns environment variables in Docker's link format. */
function linkVariables(prefix: string, address: string, port: ServicePort): [string, string][] {
  const protocol = protocolOf(port);
  const name = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
  return [
    [name, linkOf(address, port)],
    [`${name}_PROTO`, protocol.toLowerCase()],
    [`${name}_PORT`, String(port.port)],
    [`${name}_ADDR`, address],
  ];
}

const protocolOf = ({ protocol }: ServicePort): string => protocol || 'TCP';

function linkOf(address: string, port: ServicePort): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return `${protocolOf(port).toLowerCase()}://${host}:${port.port}`;
}

const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();

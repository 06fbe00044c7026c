import type { KubeObject } from '@podwright/kube-api';
import { AGE, type Column, type KindTables, kindTable, NAME, NONE, named, text } from './column.ts';
import { type LabelSelector, selectorText } from './selector-text.ts';
import { balancerAddresses, type LoadBalancer } from './services.ts';

type Ingress = KubeObject & {
  spec: { ingressClassName?: string; rules?: { host?: string }[]; tls?: unknown[] };
  status?: { loadBalancer?: LoadBalancer };
};

const INGRESS: Column<Ingress>[] = [
  NAME,
  text('Class', 'Ingress class that serves it', ({ spec }) => spec.ingressClassName ?? NONE),
  text('Hosts', 'Hosts of its rules', ({ spec }) => hostsOf(spec.rules ?? [])),
  text('Address', 'Addresses of its load balancer', ({ status }) => balancerAddresses(status?.loadBalancer).join(',')),
  text('Ports', 'Ports that it opens', ({ spec }) => (spec.tls?.length ? '80, 443' : '80')),
  AGE,
];

/**
 * Returns the first three hosts of an Ingress's rules. Like upstream, counts all rules after the third as "more", even those without a
 * host.
 */
function hostsOf(rules: { host?: string }[]): string {
  const hosts = rules.flatMap(({ host }, index) => (host ? [{ host, index }] : []));
  const shown = hosts.slice(0, 3);
  const text = shown.map(({ host }) => host).join(',') || '*';
  const isCut = shown.length === 3 && shown[2]!.index < rules.length - 1;
  return isCut ? `${text} + ${rules.length - 3} more...` : text;
}

type IngressClass = KubeObject & {
  spec?: { controller?: string; parameters?: { apiGroup?: string; kind: string; name: string } };
};

const INGRESS_CLASS: Column<IngressClass>[] = [
  named(
    text('Name', 'Name of the object', ({ metadata }) =>
      metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true'
        ? `${metadata.name} (default)`
        : (metadata.name ?? ''),
    ),
  ),
  text('Controller', 'Controller that serves the class', ({ spec }) => spec?.controller ?? ''),
  text('Parameters', 'Object with further settings', ({ spec }) => {
    if (!spec?.parameters) return NONE;
    const { apiGroup, kind, name } = spec.parameters;
    return typeof apiGroup === 'string' ? `${kind}.${apiGroup}/${name}` : `${kind}/${name}`;
  }),
  AGE,
];

type NetworkPolicy = KubeObject & { spec?: { podSelector?: LabelSelector } };

const NETWORK_POLICY: Column<NetworkPolicy>[] = [
  NAME,
  text('Pod-Selector', 'Labels of the pods to which it applies', ({ spec }) => selectorText(spec?.podSelector)),
  AGE,
];

type ServiceCidr = KubeObject & { spec?: { cidrs?: string[] } };

const SERVICE_CIDR: Column<ServiceCidr>[] = [
  NAME,
  text('CIDRs', 'Ranges of IP addresses of services', ({ spec }) => (spec?.cidrs ?? []).join(',')),
  AGE,
];

type IpAddress = KubeObject & {
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } };
};

/** The columns of IPAddresses. Upstream prints the age as a cell without declaring a column for it, so kubectl does not show it. */
const IP_ADDRESS: Column<IpAddress>[] = [
  NAME,
  text('ParentRef', 'Object that has the address', ({ spec }) => {
    if (!spec?.parentRef) return NONE;
    const { group, resource = '', namespace, name = '' } = spec.parentRef;
    const parent = (group ? `${resource}.${group}` : resource).toLowerCase();
    return namespace ? `${parent}/${namespace}/${name}` : `${parent}/${name}`;
  }),
  { cell: AGE.cell },
];

export const NETWORKING: KindTables = {
  'Ingress.networking.k8s.io': kindTable(INGRESS),
  'IngressClass.networking.k8s.io': kindTable(INGRESS_CLASS),
  'NetworkPolicy.networking.k8s.io': kindTable(NETWORK_POLICY),
  'ServiceCIDR.networking.k8s.io': kindTable(SERVICE_CIDR),
  'IPAddress.networking.k8s.io': kindTable(IP_ADDRESS),
};

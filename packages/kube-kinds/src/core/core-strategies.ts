import type { Conversions, Strategies } from '../strategy.ts';
import { bindings } from './bindings.ts';
import { configMaps } from './config-maps.ts';
import { endpointSlices } from './endpoint-slices.ts';
import { endpoints } from './endpoints.ts';
import { eventConversion } from './event-conversion.ts';
import { events } from './events.ts';
import { ingressClasses } from './ingress-classes.ts';
import { ingresses } from './ingresses.ts';
import { ipAddresses } from './ip-addresses.ts';
import { leases } from './leases.ts';
import { limitRanges } from './limit-ranges.ts';
import { namespaces } from './namespaces.ts';
import { networkPolicies } from './network-policies.ts';
import { nodes } from './nodes.ts';
import { resourceQuotas } from './resource-quotas.ts';
import { runtimeClasses } from './runtime-classes.ts';
import { secrets } from './secrets.ts';
import { serviceAccounts } from './service-accounts.ts';
import { serviceCidrs } from './service-cidrs.ts';
import { services } from './services.ts';

/** Strategies of namespaces, nodes, configuration, services, endpoints, events, quotas, networking, leases and runtime classes. */
export const CORE_STRATEGIES: Strategies = {
  bindings,
  configmaps: configMaps,
  endpoints,
  events,
  limitranges: limitRanges,
  namespaces,
  nodes,
  resourcequotas: resourceQuotas,
  secrets,
  serviceaccounts: serviceAccounts,
  services,
  'endpointslices.discovery.k8s.io': endpointSlices,
  'ingressclasses.networking.k8s.io': ingressClasses,
  'ingresses.networking.k8s.io': ingresses,
  'ipaddresses.networking.k8s.io': ipAddresses,
  'leases.coordination.k8s.io': leases,
  'networkpolicies.networking.k8s.io': networkPolicies,
  'runtimeclasses.node.k8s.io': runtimeClasses,
  'servicecidrs.networking.k8s.io': serviceCidrs,
};

/** Conversions for versions of the kinds in `CORE_STRATEGIES` that are served but not stored. */
export const CORE_CONVERSIONS: Conversions = { 'events.events.k8s.io/v1': eventConversion };

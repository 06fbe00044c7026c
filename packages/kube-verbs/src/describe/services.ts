import { isIPv6 } from 'node:net';
import type { EndpointSlice, Service, ServicePort } from '../service.ts';
import type { Lines } from '../text/aligned.ts';
import { labelsText } from '../text/selector-text.ts';
import { describeAnnotations, describeLabels } from './metadata.ts';

export function describeService(lines: Lines, service: Service, slices: readonly EndpointSlice[] | Error): void {
  const { metadata, spec, status } = service;
  const optional = (label: string, value: string | number | undefined) => value && lines.field(label, value);
  lines.field('Name', metadata.name);
  lines.field('Namespace', metadata.namespace ?? '');
  describeLabels(lines, metadata.labels);
  describeAnnotations(lines, metadata.annotations);
  lines.field('Selector', labelsText(spec.selector) || '<none>');
  lines.field('Type', spec.type ?? '');
  optional('IP Family Policy', spec.ipFamilyPolicy);
  lines.field('IP Families', (spec.ipFamilies ?? []).join(',') || '<none>');
  lines.field('IP', spec.clusterIP ?? '');
  lines.field('IPs', (spec.clusterIPs ?? []).join(',') || '<none>');
  optional('External IPs', (spec.externalIPs ?? []).join(','));
  optional('Desired LoadBalancer IP', spec.loadBalancerIP);
  optional('External Name', spec.externalName);
  optional('LoadBalancer Ingress', (status?.loadBalancer?.ingress ?? []).map(ingressText).join(', '));
  for (const port of spec.ports ?? []) describePort(lines, port, slices);
  lines.field('Session Affinity', spec.sessionAffinity ?? '');
  optional('External Traffic Policy', spec.externalTrafficPolicy);
  optional('Internal Traffic Policy', spec.internalTrafficPolicy);
  optional('Traffic Distribution', spec.trafficDistribution);
  optional('HealthCheck NodePort', spec.healthCheckNodePort);
  optional('LoadBalancer Source Ranges', (spec.loadBalancerSourceRanges ?? []).join(','));
}

function ingressText({ ip, hostname = '', ipMode }: { ip?: string; hostname?: string; ipMode?: string }): string {
  return `${ip || hostname}${ip && ipMode ? ` (${ipMode})` : ''}`;
}

function describePort(lines: Lines, port: ServicePort, slices: readonly EndpointSlice[] | Error): void {
  const { name, protocol = 'TCP', targetPort, nodePort } = port;
  lines.field('Port', `${name || '<unset>'}\t${port.port}/${protocol}`);
  lines.field('TargetPort', `${targetPort ?? port.port}/${protocol}`);
  if (nodePort) lines.field('NodePort', `${name || '<unset>'}\t${nodePort}/${protocol}`);
  lines.field('Endpoints', endpointsText(slices, name ?? ''));
}

const MAX_ENDPOINTS = 3;

/** Formats a Service port's first ready endpoints and the number of remaining ones. */
function endpointsText(slices: readonly EndpointSlice[] | Error, portName: string): string {
  if (slices instanceof Error) return `error in fetching EndpointSlices: ${slices.message}`;
  if (slices.length === 0) return '<none>';
  const all = slices.flatMap(({ endpoints, ports }) =>
    (ports ?? [])
      .filter(({ name = '' }) => name === portName)
      .flatMap(({ port }) =>
        (endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
          .flatMap(({ addresses }) => (addresses ?? []).map((address) => hostPort(address, port))),
      ),
  );
  const more = all.length - MAX_ENDPOINTS;
  return `${all.slice(0, MAX_ENDPOINTS).join(',')}${more > 0 ? ` + ${more} more...` : ''}`;
}

const hostPort = (address: string, port = 0): string =>
  isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;

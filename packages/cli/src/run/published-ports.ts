import type { Container, Pod } from '@podwright/kube-api';
import { podLabel } from './pod-rows.ts';

type Port = NonNullable<Container['ports']>[number];

/** Returns a line for each of the pod's host ports, with a URL if the port's name or an HTTP probe indicates that it serves HTTP. */
export function publishedPorts(pod: Pod): string[] {
  return pod.spec.containers.flatMap((container) =>
    (container.ports ?? []).flatMap((port) =>
      port.hostPort === undefined ? [] : [`${podLabel(pod)}: ${addressOf(port, container)}`],
    ),
  );
}

function addressOf(port: Port, container: Container): string {
  const address = `${hostOf(port)}:${port.hostPort}`;
  if (port.protocol !== undefined && port.protocol !== 'TCP') return `${address}/${port.protocol.toLowerCase()}`;
  const scheme = schemeOf(port, container);
  return scheme === undefined ? address : `open ${scheme}://${address}`;
}

function hostOf({ hostIP = '' }: Port): string {
  if (hostIP === '' || hostIP === '0.0.0.0' || hostIP === '::') return 'localhost';
  return hostIP.includes(':') ? `[${hostIP}]` : hostIP;
}

function schemeOf(port: Port, { readinessProbe, livenessProbe, startupProbe }: Container): string | undefined {
  const probes = [readinessProbe, livenessProbe, startupProbe].flatMap((probe) => probe?.httpGet ?? []);
  const probe = probes.find((get) => get.port === port.containerPort || (port.name && get.port === port.name));
  if (probe !== undefined) return probe.scheme === 'HTTPS' ? 'https' : 'http';
  return /^https?(?=-|$)/.exec(port.name ?? '')?.[0];
}

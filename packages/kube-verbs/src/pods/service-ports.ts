import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { Service } from '../service.ts';

/**
 * Translates `LOCAL:REMOTE`, `REMOTE` and `:REMOTE`, where REMOTE is the number or name of a Service port, to the pod port that the Service
 * targets, like `kubectl port-forward svc/…`. Throws `invalid_argument` if the Service or the pod has no such port.
 */
export function podPortText(text: string, service: Service, pod: Pod): string {
  const colon = text.indexOf(':');
  const wanted = text.slice(colon + 1);
  const port = servicePort(service, wanted);
  const local = colon < 0 ? String(port.port) : text.slice(0, colon);
  return `${local}:${targetPort(service, pod, port)}`;
}

type Port = NonNullable<Service['spec']['ports']>[number];

function servicePort({ metadata, spec: { ports = [] } }: Service, wanted: string): Port {
  const found = ports.find(({ name, port }) => (/^\d+$/.test(wanted) ? port === Number(wanted) : name === wanted));
  if (found !== undefined) return found;
  throw new PodwrightError('invalid_argument', `Service ${metadata.name} does not have a service port ${wanted}`);
}

function targetPort({ spec }: Service, pod: Pod, { port, targetPort = port }: Port): number {
  if (spec.clusterIP === 'None') return port;
  if (typeof targetPort === 'number') return targetPort || port;
  const { containers, initContainers = [] } = pod.spec;
  const declared = [...containers, ...initContainers].flatMap(({ ports = [] }) => ports);
  const found = declared.find(({ name }) => name === targetPort);
  if (found !== undefined) return found.containerPort;
  throw new PodwrightError('invalid_argument', `Pod '${pod.metadata.name}' does not have a named port '${targetPort}'`);
}

import { PodwrightError } from '@podwright/base';
import type { Container, IntOrString } from '@podwright/kube-api';

/** Resolves a port given by number or by the name of a container port. */
export function resolvePort(port: IntOrString, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port);
  if (named !== undefined) return named.containerPort;
  const number = Number(port);
  if (/^\d+$/.test(port) && number > 0 && number < 65_536) return number;
  throw new PodwrightError('invalid_argument', `container ${container.name} has no port named "${port}"`);
}

/** Returns the address to probe: the handler's host or, if unset, the pod's primary IP. */
export function resolveHost(host: string | undefined, podIps: string[]): string {
  const found = host || podIps[0];
  if (found !== undefined) return found;
  throw new PodwrightError('failed_precondition', 'the pod has no address yet');
}

/** Warns about ports used by more than one container. */
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectsAt, textAt } from '../values.ts';
import { containersOf } from './visit-containers.ts';

type Port = { path: string; port: JsonObject; hostPort: number; hostIp: string };

/** Maximum number of earlier ports to compare each port with: clients may send long lists. */
const MAX_COMPARED = 100;

/** Returns the warnings about a pod's ports. `field` refers to the pod spec. */
export function portWarnings(spec: JsonObject, field: Field): string[] {
  const ports = containersOf(spec).flatMap(({ container, list, index }) =>
    objectsAt(container, 'ports').map(
      (port, portIndex): Port => ({
        path: field.at(list, index, 'ports', portIndex).path,
        port,
        hostPort: numberAt(port, 'hostPort') ?? 0,
        hostIp: textAt(port, 'hostIP'),
      }),
    ),
  );
  return [...overlaps(ports), ...repeatedNames(ports)];
}

function overlaps(ports: readonly Port[]): string[] {
  const byNumber = new Map<string, Port[]>();
  return ports.flatMap((one) => {
    const key = `${numberAt(one.port, 'containerPort') ?? 0}/${textAt(one.port, 'protocol')}`;
    const others = byNumber.get(key) ?? [];
    if (others.length < MAX_COMPARED) byNumber.set(key, [...others, one]);
    const noHostPort =
      one.hostIp !== '' && one.hostPort === 0 ? [`${one.path}: hostIP set without hostPort: ${shownPort(one)}`] : [];
    return [...noHostPort, ...others.flatMap((other) => overlap(one, other))];
  });
}

function overlap(one: Port, other: Port): string[] {
  const isSamePort = one.hostPort === other.hostPort;
  if (isSamePort && one.hostIp === other.hostIp) return [`${one.path}: duplicate port definition with ${other.path}`];
  if (one.hostPort === 0 || other.hostPort === 0)
    return [`${one.path}: overlapping port definition with ${other.path}`];
  const isAmbiguous = isSamePort && (one.hostIp === '') !== (other.hostIp === '');
  return isAmbiguous ? [`${one.path}: dangerously ambiguous port definition with ${other.path}`] : [];
}

/** Formats a port like Go prints a struct. */
const shownPort = ({ port, hostPort, hostIp }: Port): string =>
  `{Name:${textAt(port, 'name')} HostPort:${hostPort} ContainerPort:${numberAt(port, 'containerPort') ?? 0} Protocol:${textAt(port, 'protocol')} HostIP:${hostIp}}`;

function repeatedNames(ports: readonly Port[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ path, port }) => {
    const name = textAt(port, 'name');
    const other = first.get(name);
    if (name === '') return [];
    if (other === undefined) {
      first.set(name, path);
      return [];
    }
    const words = `services and probes that select ports by name will use ${other}`;
    return [`${path}: duplicate port name ${JSON.stringify(name)} with ${other}, ${words}`];
  });
}

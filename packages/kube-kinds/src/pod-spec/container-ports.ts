import type { Field } from '../field.ts';
import { portNameProblems } from '../names.ts';
import { portNumberProblems } from '../texts.ts';
import { type JsonObject, numberAt, objectsAt, textAt, valueAt } from '../values.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** Validates the ports of a container (validateContainerPorts). */
export function validateContainerPorts(ports: readonly JsonObject[], field: Field): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = field.at(index);
    validateName(textAt(port, 'name'), at.at('name'), names);
    const containerPort = numberAt(port, 'containerPort') ?? 0;
    if (containerPort === 0) at.at('containerPort').required();
    else at.at('containerPort').invalidEach(containerPort, portNumberProblems(containerPort));
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort !== 0) at.at('hostPort').invalidEach(hostPort, portNumberProblems(hostPort));
    at.at('protocol').oneOf(textAt(port, 'protocol'), PROTOCOLS);
  }
}

function validateName(name: string, field: Field, names: Set<string>): void {
  if (name === '') return;
  const problems = portNameProblems(name);
  field.invalidEach(name, problems);
  if (problems.length > 0) return;
  if (names.has(name)) field.duplicate(name);
  names.add(name);
}

/** Reports host ports used by more than one container (checkHostPortConflicts). */
export function validateHostPorts(containers: readonly JsonObject[], field: Field): void {
  const used = new Set<string>();
  for (const [index, container] of containers.entries())
    for (const [portIndex, port] of objectsAt(container, 'ports').entries()) {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      const key = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${hostPort}`;
      if (hostPort === 0) continue;
      if (used.has(key)) field.at(index, 'ports', portIndex, 'hostPort').duplicate(key);
      used.add(key);
    }
}

/** Validates a port number or the name of a container port (ValidatePortNumOrName). An absent port is treated as 0. */
export function validatePortOrName(port: unknown, field: Field): void {
  if (typeof port === 'string') field.invalidEach(port, portNameProblems(port));
  else field.invalidEach(Number(port ?? 0), portNumberProblems(Number(port ?? 0)));
}

/** With host networking, requires each host port to equal its container port (validatePodHostNetworkDeps). */
export function validateHostNetworkPorts(spec: JsonObject, field: Field, isPod: boolean): void {
  if (valueAt(spec, 'hostNetwork') !== true) return;
  for (const [index, container] of objectsAt(spec, 'containers').entries())
    for (const [portIndex, port] of objectsAt(container, 'ports').entries()) {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      const isWrong = hostPort !== (numberAt(port, 'containerPort') ?? 0) && (isPod || hostPort !== 0);
      const at = field.at('containers', index, 'ports', portIndex, 'hostPort');
      if (isWrong) at.invalid(hostPort, 'must match `containerPort` when `hostNetwork` is true');
    }
}

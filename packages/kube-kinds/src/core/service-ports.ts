import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, forbiddenField, required } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { isDnsLabel, problemsAt } from '../rules.ts';
import { type JsonObject, numberAt, textAt, valueAt } from '../values.ts';
import { validatePortNumber, validatePortNumberOrName, validateProtocol } from './ports.ts';
import { portsOf, typeOf } from './service-fields.ts';

export function validatePorts(service: ApiObject): FieldError[] {
  const ports = portsOf(service);
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const field = `spec.ports[${index}]`;
    return [
      ...validateName(`${field}.name`, textAt(port, 'name'), { isRequired: ports.length > 1, seen }),
      ...validatePort(field, port),
    ];
  });
}

/** Validates a port's name. It is required if there are several ports. */
function validateName(
  field: string,
  name: string,
  { isRequired, seen }: { isRequired: boolean; seen: Set<string> },
): FieldError[] {
  if (name === '') return isRequired ? [required(field)] : [];
  const errors = [...isDnsLabel(field, name), ...(seen.has(name) ? [duplicate(field, name)] : [])];
  seen.add(name);
  return errors;
}

function validatePort(field: string, port: JsonObject): FieldError[] {
  const protocol = textAt(port, 'appProtocol');
  return [
    ...validatePortNumber(`${field}.port`, numberAt(port, 'port') ?? 0),
    ...validateProtocol(`${field}.protocol`, textAt(port, 'protocol')),
    ...validatePortNumberOrName(`${field}.targetPort`, valueAt(port, 'targetPort')),
    ...(valueAt(port, 'appProtocol') === undefined
      ? []
      : problemsAt(`${field}.appProtocol`, protocol, qualifiedNameProblems(protocol))),
  ];
}

/** Checks that ports and node ports are unique per protocol, and that a ClusterIP service has no node ports. */
export function validatePortUniqueness(service: ApiObject): FieldError[] {
  const ports = portsOf(service);
  const isInternal = typeOf(service) === 'ClusterIP';
  const unused = ports.flatMap((port, index) => {
    const detail = "may not be used when `type` is 'ClusterIP'";
    return isInternal && nodePortOf(port) !== 0 ? [forbiddenField(`spec.ports[${index}].nodePort`, detail)] : [];
  });
  const nodePorts = repeated(ports, (port) => nodePortOf(port) || undefined);
  const numbers = repeated(ports, (port) => numberAt(port, 'port') ?? 0);
  return [
    ...unused,
    ...nodePorts.map((index) => duplicate(`spec.ports[${index}].nodePort`, nodePortOf(ports[index]!))),
    ...numbers.map((index) => duplicate(`spec.ports[${index}]`, internalPort(ports[index]!))),
  ];
}

const nodePortOf = (port: JsonObject): number => numberAt(port, 'nodePort') ?? 0;

/** Returns the indexes of ports with the same protocol and number as an earlier port. */
function repeated(ports: readonly JsonObject[], numberOf: (port: JsonObject) => number | undefined): number[] {
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const number = numberOf(port);
    if (number === undefined) return [];
    const key = `${textAt(port, 'protocol')} ${number}`;
    if (seen.has(key)) return [index];
    seen.add(key);
    return [];
  });
}

/** Returns the internal form of a port with only a protocol and a number, as shown in upstream's errors. */
const internalPort = (port: JsonObject) => ({
  Name: '',
  Protocol: textAt(port, 'protocol'),
  AppProtocol: null,
  Port: numberAt(port, 'port') ?? 0,
  TargetPort: 0,
  NodePort: 0,
});

import { ipWarnings, validateLegacyIp } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, required } from '../field-error.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../names.ts';
import { isDnsLabel, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, numberAt, objectsAt, textAt, valueAt, withItems } from '../values.ts';
import { validateEndpointIp } from './endpoint-ip.ts';
import { validatePortNumber, validateProtocol } from './ports.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const CONTROLLER = 'endpoint-controller';
const ADDRESS_LISTS = ['addresses', 'notReadyAddresses'] as const;

export const endpoints: Strategy = {
  applyDefaults: (object) =>
    withItems(object, ['subsets'], (subset) =>
      withItems(subset, ['ports'], (port) => ({ ...port, protocol: textAt(port, 'protocol') || 'TCP' })),
    ),
  validate: validateSubsets,
  // unchanged subsets are not validated: an older version of the server might have accepted them
  validateUpdate: (object, old) => (isSameValue(object.subsets, old.subsets) ? [] : validateSubsets(object)),
  warnings: addressWarnings,
  allowCreateOnUpdate: true,
};

function validateSubsets(object: ApiObject): FieldError[] {
  return objectsAt(object, 'subsets').flatMap((subset, index) => {
    const field = `subsets[${index}]`;
    const lists = ADDRESS_LISTS.map((list) => [list, objectsAt(subset, list)] as const);
    const isEmpty = lists.every(([, addresses]) => addresses.length === 0);
    const ports = objectsAt(subset, 'ports');
    return [
      ...(isEmpty ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...lists.flatMap(([list, addresses]) =>
        addresses.flatMap((address, at) => validateAddress(`${field}.${list}[${at}]`, address)),
      ),
      ...ports.flatMap((port, at) => validatePort(`${field}.ports[${at}]`, port, ports.length > 1)),
    ];
  });
}

function validateAddress(field: string, address: JsonObject): FieldError[] {
  const [ip, hostname, node] = ['ip', 'hostname', 'nodeName'].map((name) => textAt(address, name)) as [
    string,
    string,
    string,
  ];
  const hasNode = valueAt(address, 'nodeName') !== undefined;
  return [
    ...validateLegacyIp(`${field}.ip`, ip),
    ...(hostname === '' ? [] : isDnsLabel(`${field}.hostname`, hostname)),
    ...(hasNode ? problemsAt(`${field}.nodeName`, node, dns1123SubdomainProblems(node)) : []),
    ...validateEndpointIp(`${field}.ip`, ip),
  ];
}

function validatePort(field: string, port: JsonObject, isNameRequired: boolean): FieldError[] {
  const name = textAt(port, 'name');
  const protocol = textAt(port, 'appProtocol');
  return [
    ...(name !== '' ? isDnsLabel(`${field}.name`, name) : isNameRequired ? [required(`${field}.name`)] : []),
    ...validatePortNumber(`${field}.port`, numberAt(port, 'port') ?? 0),
    ...validateProtocol(`${field}.protocol`, textAt(port, 'protocol')),
    ...(valueAt(port, 'appProtocol') === undefined
      ? []
      : problemsAt(`${field}.appProtocol`, protocol, qualifiedNameProblems(protocol))),
  ];
}

function addressWarnings(object: ApiObject): string[] {
  if (textAt(object, 'metadata', 'labels', MANAGED_BY) === CONTROLLER) return [];
  return objectsAt(object, 'subsets').flatMap((subset, index) =>
    ADDRESS_LISTS.flatMap((list) =>
      objectsAt(subset, list).flatMap((address, at) =>
        ipWarnings(`subsets[${index}].${list}[${at}].ip`, textAt(address, 'ip')),
      ),
    ),
  );
}

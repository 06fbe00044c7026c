import { validateCanonicalIp, validateLegacyIp } from '../address-rules.ts';
import { parseIp } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required, tooMany } from '../field-error.ts';
import { validateLabels } from '../labels.ts';
import { dns1123SubdomainProblems, labelValueProblems, qualifiedNameProblems } from '../names.ts';
import { isDnsLabel, problemsAt } from '../rules.ts';
import { domainProblem } from '../texts.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateEndpointIp } from './endpoint-ip.ts';
import { validateProtocol } from './ports.ts';

const TYPES = ['FQDN', 'IPv4', 'IPv6'];
const ZONE = 'topology.kubernetes.io/zone';
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY = 16;
const MAX_HINTS = 8;

/** Validates an EndpointSlice, except for its endpoints. */
export function validateSlice(object: ApiObject): FieldError[] {
  const type = textAt(object, 'addressType');
  const isKnown = TYPES.includes(type);
  const typeErrors = type === '' ? [required('addressType')] : [notSupported('addressType', type, TYPES)];
  return [...(isKnown ? [] : typeErrors), ...validatePorts(objectsAt(object, 'ports'))];
}

function validatePorts(ports: readonly JsonObject[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [tooMany('ports', ports.length, MAX_PORTS)];
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const field = `ports[${index}]`;
    const name = textAt(port, 'name');
    const protocol = textAt(port, 'appProtocol');
    const hasProtocol = valueAt(port, 'appProtocol') !== undefined;
    const repeated = seen.has(name) ? [duplicate(`${field}.name`, name)] : [];
    seen.add(name);
    return [
      ...(name === '' ? [] : isDnsLabel(`${field}.name`, name)),
      ...repeated,
      ...validateProtocol(`${field}.protocol`, textAt(port, 'protocol')),
      ...(hasProtocol ? problemsAt(`${field}.appProtocol`, protocol, qualifiedNameProblems(protocol)) : []),
    ];
  });
}

export function validateEndpoints(object: ApiObject): FieldError[] {
  const endpoints = objectsAt(object, 'endpoints');
  if (endpoints.length > MAX_ENDPOINTS) return [tooMany('endpoints', endpoints.length, MAX_ENDPOINTS)];
  const type = textAt(object, 'addressType');
  return endpoints.flatMap((endpoint, index) => [
    ...validateAddresses(`endpoints[${index}].addresses`, textsAt(endpoint, 'addresses'), type),
    ...validateEndpoint(`endpoints[${index}]`, endpoint),
  ]);
}

function validateAddresses(field: string, addresses: readonly string[], type: string): FieldError[] {
  const counted =
    addresses.length === 0
      ? [required(field, 'must contain at least 1 address')]
      : addresses.length > MAX_ADDRESSES
        ? [tooMany(field, addresses.length, MAX_ADDRESSES)]
        : [];
  return [...counted, ...addresses.flatMap((address, index) => validateAddress(field, index, { address, type }))];
}

function validateAddress(
  field: string,
  index: number,
  { address, type }: { address: string; type: string },
): FieldError[] {
  const at = `${field}[${index}]`;
  if (type === 'FQDN') return validateDomain(at, address);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? validateLegacyIp(at, address) : validateCanonicalIp(at, address);
  if (errors.length > 0) return errors;
  const isFamily = parseIp(address)?.family === type;
  return [
    ...(isFamily ? [] : [invalidValue(field, address, `must be an ${type} address`)]),
    ...validateEndpointIp(at, address),
  ];
}

function validateDomain(field: string, domain: string): FieldError[] {
  if (domain === '') return [required(field)];
  const found = domainProblem(domain);
  return found === undefined ? [] : [invalidValue(field, found.value, found.problem)];
}

function validateEndpoint(field: string, endpoint: JsonObject): FieldError[] {
  const node = textAt(endpoint, 'nodeName');
  const hostname = textAt(endpoint, 'hostname');
  const topology = objectAt(endpoint, 'deprecatedTopology') ?? {};
  const size = Object.keys(topology).length;
  const isSet = (name: string) => valueAt(endpoint, name) !== undefined;
  return [
    ...(isSet('nodeName') ? problemsAt(`${field}.nodeName`, node, dns1123SubdomainProblems(node)) : []),
    ...(size > MAX_TOPOLOGY ? [tooMany(`${field}.deprecatedTopology`, size, MAX_TOPOLOGY)] : []),
    ...validateLabels(`${field}.deprecatedTopology`, topology),
    ...(Object.hasOwn(topology, ZONE) ? [zoneError(`${field}.deprecatedTopology[${ZONE}]`)] : []),
    ...(isSet('hostname') ? isDnsLabel(`${field}.hostname`, hostname) : []),
    ...validateHints(`${field}.hints`, endpoint),
  ];
}

const zoneError = (field: string): FieldError => ({
  reason: 'InternalError',
  field,
  message: 'Internal error: reserved key was not removed in conversion',
});

function validateHints(field: string, endpoint: JsonObject): FieldError[] {
  const zones = objectsAt(endpoint, 'hints', 'forZones').map((zone) => textAt(zone, 'name'));
  const nodes = objectsAt(endpoint, 'hints', 'forNodes').map((node) => textAt(node, 'name'));
  if (zones.length > MAX_HINTS) return [tooMany(`${field}.forZones`, zones.length, MAX_HINTS)];
  const errors = validateNames(`${field}.forZones`, zones, labelValueProblems);
  if (nodes.length > MAX_HINTS) return [...errors, tooMany(`${field}.forNodes`, nodes.length, MAX_HINTS)];
  return [...errors, ...validateNames(`${field}.forNodes`, nodes, dns1123SubdomainProblems)];
}

function validateNames(
  field: string,
  names: readonly string[],
  problemsOf: (name: string) => readonly string[],
): FieldError[] {
  return names.flatMap((name, index) => [
    ...(names.indexOf(name) < index ? [duplicate(`${field}[${index}].name`, name)] : []),
    ...problemsAt(`${field}[${index}].name`, name, problemsOf(name)),
  ]);
}

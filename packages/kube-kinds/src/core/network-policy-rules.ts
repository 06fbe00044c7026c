/** Validates the ports and peers of network policies. */
import { validateLegacyCidr } from '../address-rules.ts';
import { cidrContains, parseCidr } from '../addresses.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { type SelectorOptions, validateLabelSelector } from '../labels.ts';
import { type JsonObject, numberAt, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import { validatePortNumber, validatePortNumberOrName } from './ports.ts';

export type PolicyOptions = SelectorOptions & { existingCidrs?: readonly string[] };

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

export function validatePolicyPort(field: string, port: JsonObject): FieldError[] {
  const protocol = valueAt(port, 'protocol');
  const isSupported = protocol === undefined || PROTOCOLS.includes(String(protocol));
  return [
    ...(isSupported ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
    ...validateRange(field, valueAt(port, 'port'), numberAt(port, 'endPort')),
  ];
}

function validateRange(field: string, port: unknown, end: number | undefined): FieldError[] {
  const unsuitable = (detail: string) => (end === undefined ? [] : [invalidValue(`${field}.endPort`, end, detail)]);
  if (port === undefined) return unsuitable('may not be specified when `port` is not specified');
  const errors = validatePortNumberOrName(`${field}.port`, port);
  if (typeof port !== 'number') return [...unsuitable('may not be specified when `port` is non-numeric'), ...errors];
  if (end === undefined) return errors;
  const detail = 'must be greater than or equal to `port`';
  return [
    ...errors,
    ...(end < port ? [invalidValue(`${field}.endPort`, port, detail)] : []),
    ...validatePortNumber(`${field}.endPort`, end),
  ];
}

/** Validates a peer: either an IP block, or pods selected by their labels, their namespaces' labels, or both. */
export function validatePeer(field: string, peer: JsonObject, options: PolicyOptions): FieldError[] {
  const selectors = ['podSelector', 'namespaceSelector'].filter((name) => objectAt(peer, name) !== undefined);
  const block = objectAt(peer, 'ipBlock');
  const isMixed = selectors.length > 0 && block !== undefined;
  const isEmpty = selectors.length === 0 && block === undefined;
  return [
    ...selectors.flatMap((name) => validateLabelSelector(`${field}.${name}`, peer[name], options)),
    ...(block === undefined ? [] : validateBlock(`${field}.ipBlock`, block, options)),
    ...(isEmpty ? [required(field, 'must specify a peer')] : []),
    ...(isMixed ? [forbiddenField(field, 'may not specify both ipBlock and another peer')] : []),
  ];
}

function validateBlock(field: string, block: JsonObject, { existingCidrs = [] }: PolicyOptions): FieldError[] {
  const text = textAt(block, 'cidr');
  if (text === '') return [required(`${field}.cidr`)];
  const errors = validateLegacyCidr(`${field}.cidr`, text, existingCidrs);
  const cidr = parseCidr(text);
  if (cidr === undefined) return errors;
  const exceptions = textsAt(block, 'except').flatMap((value, index) => {
    const at = `${field}.except[${index}]`;
    const except = parseCidr(value);
    const isSubset =
      except === undefined || (cidrContains(cidr, except.address) && cidr.prefixLength < except.prefixLength);
    return [
      ...validateLegacyCidr(at, value, existingCidrs),
      ...(isSubset ? [] : [invalidValue(at, value, 'must be a strict subset of `cidr`')]),
    ];
  });
  return [...errors, ...exceptions];
}

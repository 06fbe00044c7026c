/**
 * Volumes of storage systems that Podwright's nodes do not support. They are still stored, just as upstream's API server stores volumes
 * whose drivers are missing.
 */
import type { Field } from '../field.ts';
import { dns1123LabelProblems } from '../names.ts';
import { rangeProblems } from '../texts.ts';
import { type JsonObject, listAt, numberAt, objectAt, textAt, valueAt } from '../values.ts';
import { validateDescendingPath } from './volume-paths.ts';

type Rule = (source: JsonObject, field: Field) => void;

const MAX_BYTE = 255;
const MAX_TENANT = 64;
const HOST_PORTS = 'must be a host:port pair or multiple pairs separated by commas';

/** Returns a rule that requires the named fields not to be empty. */
const requires =
  (...names: string[]): Rule =>
  (source, field) => {
    for (const name of names) {
      const isEmpty = Array.isArray(valueAt(source, name)) ? listAt(source, name).length === 0 : !valueAt(source, name);
      if (isEmpty) field.at(name).required();
    }
  };

const all =
  (...rules: Rule[]): Rule =>
  (source, field) => {
    for (const rule of rules) rule(source, field);
  };

const withinByte =
  (name: string): Rule =>
  (source, field) => {
    const value = numberAt(source, name) ?? 0;
    if (value === 0) return;
    field.at(name).invalidEach(value, rangeProblems(value, { min: name === 'partition' ? 1 : 0, max: MAX_BYTE }));
  };

const secretName: Rule = (source, field) => {
  if (objectAt(source, 'secretRef') !== undefined && textAt(source, 'secretRef', 'name') === '')
    field.at('secretRef', 'name').required();
};

const requiredIqn: Rule = (source, field) => {
  const iqn = textAt(source, 'iqn');
  if (iqn === '') field.at('iqn').required();
  else validateIqn(iqn, field.at('iqn'));
};

const initiator: Rule = (source, field) => {
  if (valueAt(source, 'initiatorName') !== undefined)
    validateIqn(textAt(source, 'initiatorName'), field.at('initiatorname'));
};

const chapSecret: Rule = (source, field) => {
  const needsSecret = valueAt(source, 'chapAuthDiscovery') === true || valueAt(source, 'chapAuthSession') === true;
  if (needsSecret && objectAt(source, 'secretRef') === undefined) field.at('secretRef').required();
};

export const RARE_SOURCES = {
  gitRepo: all(requires('repository'), (source, field) =>
    validateDescendingPath(textAt(source, 'directory'), field.at('directory')),
  ),
  gcePersistentDisk: all(requires('pdName'), withinByte('partition')),
  awsElasticBlockStore: all(requires('volumeID'), withinByte('partition')),
  iscsi: all(requires('targetPortal'), requiredIqn, withinByte('lun'), chapSecret, initiator),
  glusterfs: requires('endpoints', 'path'),
  flocker: validateFlocker,
  rbd: requires('monitors', 'image'),
  cinder: all(requires('volumeID'), secretName),
  cephfs: requires('monitors'),
  quobyte: validateQuobyte,
  fc: validateFibreChannel,
  flexVolume: all(requires('driver'), validateFlexOptions),
  azureFile: requires('secretName', 'shareName'),
  vsphereVolume: requires('volumePath'),
  photonPersistentDisk: requires('pdID'),
  portworxVolume: requires('volumeID'),
  azureDisk: validateAzureDisk,
  storageos: all(validateStorageOs, secretName),
  scaleIO: requires('gateway', 'system', 'volumeName'),
} satisfies Record<string, Rule>;

function validateIqn(iqn: string, field: Field): void {
  const kinds = { iqn: isIqn, eui: isNumbered(16), naa: isNumbered(32) };
  const kind = Object.entries(kinds).find(([prefix]) => iqn.startsWith(prefix));
  if (kind === undefined) field.invalid(iqn, 'must be valid format starting with iqn, eui, or naa');
  else if (!kind[1](iqn)) field.invalid(iqn, 'must be valid format');
}

/**
 * Returns true if /iqn\.\d{4}-\d{2}\.[a-z0-9.-]+:[^,;*&$|\s]+$/i matches. Evaluating the regular expression itself would take quadratic
 * time for malicious names.
 */
function isIqn(iqn: string): boolean {
  const lastBad = [...iqn.matchAll(/[,;*&$|\t\n\f\r ]/g)].at(-1)?.index ?? -1;
  return [...iqn.matchAll(/[A-Za-z0-9.-]+/g)].some(({ 0: authority, index }) => {
    const colon = index + authority.length;
    const isLast = iqn[colon] === ':' && colon > lastBad && colon + 1 < iqn.length;
    return isLast && /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]/.test(authority);
  });
}

const isNumbered =
  (length: number) =>
  (name: string): boolean =>
    name.length === 4 + length && /^.{4}[A-Za-z0-9]+$/.test(name);

function validateFlocker(source: JsonObject, field: Field): void {
  const name = textAt(source, 'datasetName');
  const uuid = textAt(source, 'datasetUUID');
  if (name === '' && uuid === '') field.required('one of datasetName and datasetUUID is required');
  if (name !== '' && uuid !== '')
    field.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (name.includes('/')) field.at('datasetName').invalid(name, "must not contain '/'");
}

function validateQuobyte(source: JsonObject, field: Field): void {
  const registry = textAt(source, 'registry');
  if (registry === '') field.at('registry').required(HOST_PORTS);
  else if (Buffer.byteLength(textAt(source, 'tenant')) > MAX_TENANT)
    field.at('tenant').required('must be a UUID and may not exceed a length of 64 characters');
  else
    for (const pair of registry.split(','))
      if (!/^([^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair)) field.at('registry').invalid(registry, HOST_PORTS);
  if (textAt(source, 'volume') === '') field.at('volume').required();
}

function validateFibreChannel(source: JsonObject, field: Field): void {
  const names = listAt(source, 'targetWWNs');
  const ids = listAt(source, 'wwids');
  const lun = numberAt(source, 'lun');
  if (names.length === 0 && ids.length === 0)
    field.at('targetWWNs').required('must specify either targetWWNs or wwids, but not both');
  if (names.length > 0 && ids.length > 0)
    field.at('targetWWNs').invalid(names, 'targetWWNs and wwids can not be specified simultaneously');
  if (names.length === 0) return;
  if (lun === undefined) field.at('lun').required('lun is required if targetWWNs is specified');
  else field.at('lun').invalidEach(lun, rangeProblems(lun, { min: 0, max: MAX_BYTE }));
}

function validateFlexOptions(source: JsonObject, field: Field): void {
  for (const key of Object.keys(objectAt(source, 'options') ?? {})) {
    const namespace = `.${key.split('/')[0]!.toLowerCase()}`;
    if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io'))
      field.at('options').key(key).invalid(key, 'kubernetes.io and k8s.io namespaces are reserved');
  }
}

function validateAzureDisk(source: JsonObject, field: Field): void {
  requires('diskName', 'diskURI')(source, field);
  const kind = textAt(source, 'kind');
  const uri = textAt(source, 'diskURI');
  const choices = { cachingMode: ['None', 'ReadOnly', 'ReadWrite'], kind: ['Dedicated', 'Managed', 'Shared'] };
  for (const [name, supported] of Object.entries(choices)) {
    const value = textAt(source, name);
    if (valueAt(source, name) !== undefined && !supported.includes(value))
      field.at(name).notSupported(value, supported);
  }
  const managed = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
  const blob = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
  if (kind === 'Managed' && !uri.startsWith('/subscriptions/')) field.at('diskURI').notSupported(uri, [managed]);
  if (kind !== '' && kind !== 'Managed' && !uri.startsWith('https://')) field.at('diskURI').notSupported(uri, [blob]);
}

function validateStorageOs(source: JsonObject, field: Field): void {
  const name = textAt(source, 'volumeName');
  const namespace = textAt(source, 'volumeNamespace');
  if (name === '') field.at('volumeName').required();
  else field.at('volumeName').invalidEach(name, dns1123LabelProblems(name));
  if (namespace !== '') field.at('volumeNamespace').invalidEach(namespace, dns1123LabelProblems(namespace));
}

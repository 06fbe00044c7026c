import { invalidValue, required } from '../field-error.ts';
import { dns1123LabelProblems } from '../names.ts';
import { isDnsLabel, problemsAt } from '../rules.ts';
import { rangeProblems } from '../texts.ts';
import { listAt, numberAt, textAt, textEntriesAt, valueAt } from '../values.ts';
import { requires, type SourceRule, secretRef } from './source-rules.ts';

/** Maximum number of host:port pairs of a Quobyte registry to check: each invalid pair results in an error that contains the whole text. */
const MAX_PAIRS = 100;

export const glusterfs: SourceRule = (field, source) => {
  const namespace = valueAt(source, 'endpointsNamespace');
  const at = `${field}.endpointsNamespace`;
  const empty = invalidValue(at, '', 'if the endpointnamespace is set, it must be a valid namespace name');
  const errors = requires('endpoints', 'path')(field, source, '');
  if (typeof namespace !== 'string') return errors;
  return [...errors, ...(namespace === '' ? [empty] : problemsAt(at, namespace, dns1123LabelProblems(namespace)))];
};

export const flocker: SourceRule = (field, source) => {
  const name = textAt(source, 'datasetName');
  const uuid = textAt(source, 'datasetUUID');
  const both = 'datasetName and datasetUUID can not be specified simultaneously';
  return [
    ...(name === '' && uuid === '' ? [required(field, 'one of datasetName and datasetUUID is required')] : []),
    ...(name !== '' && uuid !== '' ? [invalidValue(field, 'resource', both)] : []),
    ...(name.includes('/') ? [invalidValue(`${field}.datasetName`, name, "must not contain '/'")] : []),
  ];
};

export const quobyte: SourceRule = (field, source) => {
  const registry = textAt(source, 'registry');
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const isTenantLong = Buffer.byteLength(textAt(source, 'tenant')) > 64;
  const tenant = required(`${field}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
  const wrong = registry.split(',', MAX_PAIRS).filter((pair) => !/^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair));
  const registryErrors =
    registry === ''
      ? [required(`${field}.registry`, pairs)]
      : isTenantLong
        ? [tenant]
        : wrong.map(() => invalidValue(`${field}.registry`, registry, pairs));
  return [...registryErrors, ...requires('volume')(field, source, '')];
};

export const fibreChannel: SourceRule = (field, source) => {
  const hasTargets = listAt(source, 'targetWWNs').length > 0;
  const hasIds = listAt(source, 'wwids').length > 0;
  const targets = `${field}.targetWWNs`;
  const lun = numberAt(source, 'lun');
  const both = 'targetWWNs and wwids can not be specified simultaneously';
  const neither = 'must specify either targetWWNs or wwids, but not both';
  const lunErrors =
    lun === undefined
      ? [required(`${field}.lun`, 'lun is required if targetWWNs is specified')]
      : problemsAt(`${field}.lun`, lun, rangeProblems(lun, { min: 0, max: 255 }));
  return [
    ...(hasTargets || hasIds ? [] : [required(targets, neither)]),
    ...(hasTargets && hasIds ? [invalidValue(targets, listAt(source, 'targetWWNs'), both)] : []),
    ...(hasTargets ? lunErrors : []),
  ];
};

export const flexVolume: SourceRule = (field, source) => {
  const reserved = textEntriesAt(source, 'options').filter(([key]) =>
    /\.(?:kubernetes|k8s)\.io$/.test(`.${key.split('/')[0]!.toLowerCase()}`),
  );
  const detail = 'kubernetes.io and k8s.io namespaces are reserved';
  const errors = reserved.map(([key]) => invalidValue(`${field}.options[${key}]`, key, detail));
  return [...requires('driver')(field, source, ''), ...errors];
};

export const storageOs: SourceRule = (field, source) => {
  const name = textAt(source, 'volumeName');
  const namespace = textAt(source, 'volumeNamespace');
  return [
    ...(name === '' ? [required(`${field}.volumeName`)] : isDnsLabel(`${field}.volumeName`, name)),
    ...(namespace === '' ? [] : isDnsLabel(`${field}.volumeNamespace`, namespace)),
    ...secretRef(field, source, ['name', 'namespace']),
  ];
};

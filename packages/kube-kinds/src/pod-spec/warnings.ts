/** Warnings about pods and templates that are valid but probably a mistake (GetWarningsForPod, GetWarningsForPodTemplate). */
import { ipWarnings } from '../address-rules.ts';
import { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, textsAt } from '../values.ts';
import { claimWarnings } from './claim-spec.ts';
import {
  BYTE_RESOURCES,
  containerWarnings,
  fractionWarning,
  profileWarnings,
  seccompWarning,
} from './container-warnings.ts';
import { pathWarnings } from './path-warnings.ts';
import { SECCOMP_POD } from './pod-annotations.ts';
import { portWarnings } from './port-warnings.ts';
import { affinityWarnings, schedulingWarnings } from './scheduling-warnings.ts';
import { containersOf } from './visit-containers.ts';

const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

const DEPRECATED_VOLUMES: readonly (readonly [name: string, words: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** Returns the warnings about a pod, or about the template at `path`. */
export function podWarnings(holder: JsonObject, path = ''): string[] {
  const root = new Field(path);
  const spec = objectAt(holder, 'spec') ?? {};
  const annotations = objectAt(holder, 'metadata', 'annotations') ?? {};
  const at = root.at('spec');
  return [
    ...schedulingWarnings(spec, at),
    ...annotationWarnings(annotations, root),
    ...volumeWarnings(spec, at),
    ...pathWarnings(objectsAt(spec, 'volumes')),
    ...repeatedWarnings(spec, at),
    ...BYTE_RESOURCES.flatMap((name) => fractionWarning(textAt(spec, 'overhead', name), at.at('overhead').key(name))),
    ...seccompWarning(
      objectAt(spec, 'securityContext'),
      annotations,
      root.at('metadata', 'annotations').key(SECCOMP_POD),
    ),
    ...containersOf(spec).flatMap(({ container, list, index }) => [
      ...profileWarnings(container, holder, root),
      ...containerWarnings(container, at.at(list, index)),
    ]),
    ...portWarnings(spec, at),
    ...((numberAt(spec, 'terminationGracePeriodSeconds') ?? 0) < 0
      ? [
          `${at.at('terminationGracePeriodSeconds').path}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(spec, at.at('affinity')),
    ...textsAt(spec, 'dnsConfig', 'nameservers').flatMap((ip, index) =>
      ipWarnings(at.at('dnsConfig', 'nameservers', index).path, ip),
    ),
    ...objectsAt(spec, 'hostAliases').flatMap((alias, index) =>
      ipWarnings(at.at('hostAliases', index, 'ip').path, textAt(alias, 'ip')),
    ),
  ];
}

function annotationWarnings(annotations: JsonObject, root: Field): string[] {
  return Object.entries(DEPRECATED_ANNOTATIONS)
    .filter(([key]) => Object.hasOwn(annotations, key))
    .map(([key, message]) => `${root.at('metadata', 'annotations').key(key).path}: ${message}`);
}

function volumeWarnings(spec: JsonObject, field: Field): string[] {
  return objectsAt(spec, 'volumes').flatMap((volume, index) => {
    const at = field.at('volumes', index);
    const deprecated = DEPRECATED_VOLUMES.filter(([name]) => objectAt(volume, name) !== undefined);
    const template = objectAt(volume, 'ephemeral', 'volumeClaimTemplate', 'spec');
    return [
      ...deprecated.map(([name, words]) => `${at.at(name === 'storageos' ? 'storageOS' : name).path}: ${words}`),
      ...claimWarnings(template, at.at('ephemeral', 'volumeClaimTemplate', 'spec')),
    ];
  });
}

function repeatedWarnings(spec: JsonObject, field: Field): string[] {
  const repeated = (list: string, name: string, words: string) => {
    const seen = new Set<string>();
    return objectsAt(spec, list).flatMap((one, index) => {
      const value = textAt(one, name);
      const isRepeated = seen.has(value);
      seen.add(value);
      return isRepeated ? [`${field.at(list, index, name).path}: duplicate ${words} ${JSON.stringify(value)}`] : [];
    });
  };
  const empty = objectsAt(spec, 'imagePullSecrets').flatMap((one, index) =>
    textAt(one, 'name') === '' ? [`${field.at('imagePullSecrets', index, 'name').path}: invalid empty name ""`] : [],
  );
  return [...repeated('hostAliases', 'ip', 'ip'), ...repeated('imagePullSecrets', 'name', 'name'), ...empty];
}

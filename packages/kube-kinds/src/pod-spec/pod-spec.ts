/** Validates pod specs and the templates containing them, with upstream's error messages and order (ValidatePodSpec). */
import type { Field } from '../field.ts';
import { validateLabels } from '../labels.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, qualifiedNameProblems } from '../names.ts';
import { validateContainerResourceName } from '../resource-names.ts';
import { rangeProblems } from '../texts.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateAffinity } from './affinity.ts';
import { validateHostNetworkPorts } from './container-ports.ts';
import {
  type ContainerContext,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './containers.ts';
import { validateDns, validateHostAliases } from './dns.ts';
import { validateFileKeyVolumes } from './file-key-volumes.ts';
import type { PodOptions } from './options.ts';
import { validateAnnotations, validatePodAnnotations, validateProfilesMatch } from './pod-annotations.ts';
import { validatePodResources } from './pod-resources.ts';
import { validateResourceClaims } from './resource-claims.ts';
import { validateResources } from './resources.ts';
import { validateHostUsers, validatePodSecurityContext } from './security.ts';
import { validateTolerations } from './tolerations.ts';
import { validateTopologySpread } from './topology-spread.ts';
import { containersOf } from './visit-containers.ts';
import { validateVolumes } from './volumes.ts';
import { validateHostProcess, validateOs } from './windows.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const MAX_INT32 = 2 ** 31 - 1;
const MAX_HOSTNAME = 64;

/** Validates a pod spec whose defaults have been set. `metadata` is the pod's metadata, and absent for templates. */
export function validatePodSpec(
  spec: JsonObject,
  field: Field,
  { metadata, options = {} }: { metadata?: JsonObject; options?: PodOptions } = {},
): void {
  const gracePeriodSeconds = numberAt(spec, 'terminationGracePeriodSeconds');
  if (gracePeriodSeconds === undefined) field.at('terminationGracePeriodSeconds').required();
  const podName = textAt(metadata, 'name');
  const volumes = validateVolumes(objectsAt(spec, 'volumes'), field.at('volumes'), { podName, options });
  const claimNames = validateResourceClaims(spec, field.at('resourceClaims'), metadata);
  const handlers = { gracePeriodSeconds, os: objectAt(spec, 'os') && textAt(spec, 'os', 'name') };
  const context: ContainerContext = { spec, volumes, claimNames, handlers, options };
  validateContainers(field.at('containers'), context);
  validateInitContainers(field.at('initContainers'), context);
  validateEphemeralContainers(field.at('ephemeralContainers'), context);
  validatePodResources(spec, field, { claimNames, options });
  validateHostNetworkPorts(spec, field, options.isPod === true);
  field.at('restartPolicy').oneOf(textAt(spec, 'restartPolicy'), RESTART_POLICIES);
  field.at('dnsPolicy').oneOf(textAt(spec, 'dnsPolicy'), DNS_POLICIES);
  field.add(validateLabels(field.at('nodeSelector').path, valueAt(spec, 'nodeSelector')));
  validatePodSecurityContext(spec, field.at('securityContext'), options);
  validateAffinity(objectAt(spec, 'affinity'), field.at('affinity'), options);
  validateDns(spec, field.at('dnsConfig'));
  validateGates(spec, field);
  validateTopologySpread(objectsAt(spec, 'topologySpreadConstraints'), field.at('topologySpreadConstraints'), options);
  validateHostProcess(spec, field);
  validateHostUsers(spec, field, options);
  if (!options.allowUserNamespaceVolumeDevices) forbidDevicesOfUserNamespace(spec, field);
  validateHostnameOverride(spec, field);
  validateNames(spec, field);
  validateTolerations(objectsAt(spec, 'tolerations'), field.at('tolerations'), options);
  validateHostAliases(objectsAt(spec, 'hostAliases'), field.at('hostAliases'));
  validateClassNames(spec, field);
  validateResources({ limits: valueAt(spec, 'overhead') ?? {} }, field.at('overhead'), {
    nameRule: validateContainerResourceName,
    claimNames: new Set(),
    options,
  });
  validateOs(spec, field);
  validateFileKeyVolumes(spec, field);
}

function validateGates(spec: JsonObject, field: Field): void {
  for (const [index, gate] of objectsAt(spec, 'readinessGates').entries()) {
    const type = textAt(gate, 'conditionType');
    field.at('readinessGates', index, 'conditionType').invalidEach(type, qualifiedNameProblems(type));
  }
  const names = new Set<string>();
  for (const [index, gate] of objectsAt(spec, 'schedulingGates').entries()) {
    const name = textAt(gate, 'name');
    const at = field.at('schedulingGates', index);
    at.invalidEach(name, qualifiedNameProblems(name));
    if (names.has(name)) at.duplicate(name);
    names.add(name);
  }
}

function forbidDevicesOfUserNamespace(spec: JsonObject, field: Field): void {
  if (valueAt(spec, 'hostUsers') !== false) return;
  for (const { container, list, index } of containersOf(spec))
    if (objectsAt(container, 'volumeDevices').length > 0)
      field.at(list, index, 'volumeDevices').forbidden('when `hostUsers` is false');
}

function validateHostnameOverride(spec: JsonObject, field: Field): void {
  if (valueAt(spec, 'hostnameOverride') === undefined) return;
  const at = field.at('hostnameOverride');
  const name = textAt(spec, 'hostnameOverride');
  for (const other of ['setHostnameAsFQDN', 'hostNetwork'])
    if (valueAt(spec, other) === true) at.forbidden(`may not be specified when ${other} is true`);
  if (Buffer.byteLength(name) > MAX_HOSTNAME) at.tooLong(MAX_HOSTNAME);
  at.invalidEach(name, dns1123SubdomainProblems(name));
}

function validateNames(spec: JsonObject, field: Field): void {
  for (const name of ['serviceAccountName', 'nodeName']) validateName(spec, field.at(name), dns1123SubdomainProblems);
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined)
    field.at('activeDeadlineSeconds').invalidEach(deadline, rangeProblems(deadline, { min: 1, max: MAX_INT32 }));
  for (const name of ['hostname', 'subdomain']) validateName(spec, field.at(name), dns1123LabelProblems);
}

function validateClassNames(spec: JsonObject, field: Field): void {
  validateName(spec, field.at('priorityClassName'), dns1123SubdomainProblems);
  const runtimeClass = textAt(spec, 'runtimeClassName');
  if (valueAt(spec, 'runtimeClassName') !== undefined)
    field.at('runtimeClassName').invalidEach(runtimeClass, dns1123SubdomainProblems(runtimeClass));
  if (valueAt(spec, 'preemptionPolicy') !== undefined)
    field.at('preemptionPolicy').oneOf(textAt(spec, 'preemptionPolicy'), PREEMPTION_POLICIES);
}

function validateName(spec: JsonObject, field: Field, problems: (name: string) => string[]): void {
  const name = textAt(spec, field.path.slice(field.path.lastIndexOf('.') + 1));
  if (name !== '') field.invalidEach(name, problems(name));
}

/** Validates a pod template (ValidatePodTemplateSpec). */
export function validatePodTemplate(template: JsonObject, field: Field, options: PodOptions = {}): void {
  const metadata = objectAt(template, 'metadata');
  const spec = objectAt(template, 'spec') ?? {};
  // the field paths in upstream's errors do not include `metadata`
  field.add(validateLabels(field.at('labels').path, valueAt(metadata, 'labels')));
  validateAnnotations(objectAt(metadata, 'annotations'), field.at('annotations'));
  validatePodAnnotations(template, field.at('annotations'), options);
  validatePodSpec(spec, field.at('spec'), { options });
  validateProfilesMatch(template, field.at('spec'));
  if (objectsAt(spec, 'ephemeralContainers').length > 0)
    field.at('spec', 'ephemeralContainers').forbidden('ephemeral containers not allowed in pod template');
}

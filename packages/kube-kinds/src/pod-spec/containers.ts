/** Validates the containers of a pod (validateContainers, validateInitContainers, validateEphemeralContainers). */
import type { Field } from '../field.ts';
import { dns1123LabelProblems } from '../names.ts';
import { validateContainerResourceName } from '../resource-names.ts';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateContainerPorts, validateHostPorts } from './container-ports.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { type HandlerContext, validateLifecycle, validateProbes } from './handlers.ts';
import type { PodOptions } from './options.ts';
import { validateResources } from './resources.ts';
import { validateInitRestartRules, validateResizePolicies, validateRestartRules } from './restart-rules.ts';
import { validateSecurityContext } from './security.ts';
import { type Volumes, validateVolumeDevices, validateVolumeMounts } from './volume-mounts.ts';

export type ContainerContext = {
  spec: JsonObject;
  volumes: Volumes;
  /** Names of the claims in the pod's `spec.resourceClaims`. */
  claimNames: ReadonlySet<string>;
  handlers: HandlerContext;
  options: PodOptions;
};

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

export function validateContainers(field: Field, context: ContainerContext): void {
  const containers = objectsAt(context.spec, 'containers');
  if (containers.length === 0) return field.required();
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = field.at(index);
    validateContainer(container, at, context);
    addName(container, at, names);
    if (objectAt(container, 'lifecycle') !== undefined)
      validateLifecycle(container, at.at('lifecycle'), context.handlers);
    validateProbes(container, at, context.handlers);
    validateRestartRules(container, at);
  }
  validateHostPorts(containers, field);
}

export function validateInitContainers(field: Field, context: ContainerContext): void {
  const names = new Set(namesOf(context.spec, 'containers'));
  for (const [index, container] of objectsAt(context.spec, 'initContainers').entries()) {
    const at = field.at(index);
    validateContainer(container, at, context);
    validateInitRestartRules(container, at);
    const name = textAt(container, 'name');
    if (names.has(name)) at.at('name').duplicate(name);
    else if (name !== '') names.add(name);
    validateHostPorts([container], field);
    if (textAt(container, 'restartPolicy') === 'Always') validateSidecar(container, at, context.handlers);
    else validateOneShot(container, at, context.options);
  }
}

function validateSidecar(container: JsonObject, field: Field, handlers: HandlerContext): void {
  if (objectAt(container, 'lifecycle') !== undefined) validateLifecycle(container, field.at('lifecycle'), handlers);
  validateProbes(container, field, handlers);
}

/** Validates the rules specific to regular init containers, which run to completion before the next one starts. */
function validateOneShot(container: JsonObject, field: Field, options: PodOptions): void {
  for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'])
    if (objectAt(container, name) !== undefined)
      field.at(name).forbidden('may not be set for init containers without restartPolicy=Always');
  if (options.allowRestartContainerResizeOfInit) return;
  for (const [index, policy] of objectsAt(container, 'resizePolicy').entries())
    if (textAt(policy, 'restartPolicy') === 'RestartContainer')
      field
        .at('resizePolicy', index, 'restartPolicy')
        .invalid('RestartContainer', "must not be set to 'RestartContainer' for non-sidecar initContainers");
}

/** Validates the rules common to all containers (validateContainerCommon). */
export function validateContainer(container: JsonObject, field: Field, context: ContainerContext): void {
  const { spec, volumes, claimNames, options } = context;
  const name = textAt(container, 'name');
  if (name === '') field.at('name').required();
  else field.at('name').invalidEach(name, dns1123LabelProblems(name));
  if (textAt(container, 'image') === '') field.at('image').required();
  field.at('terminationMessagePolicy').oneOf(textAt(container, 'terminationMessagePolicy'), MESSAGE_POLICIES);
  validateContainerPorts(objectsAt(container, 'ports'), field.at('ports'));
  validateEnv(objectsAt(container, 'env'), field.at('env'));
  validateEnvFrom(objectsAt(container, 'envFrom'), field.at('envFrom'));
  validateVolumeMounts(container, volumes, field.at('volumeMounts'));
  validateVolumeDevices(container, volumes, field.at('volumeDevices'));
  validatePullPolicy(textAt(container, 'imagePullPolicy'), field.at('imagePullPolicy'));
  validateResources(objectAt(container, 'resources'), field.at('resources'), {
    nameRule: validateContainerResourceName,
    claimNames,
    options,
  });
  validateResizePolicies(container, field.at('resizePolicy'), textAt(spec, 'restartPolicy'));
  const hostUsers = valueAt(spec, 'hostUsers') !== false;
  validateSecurityContext(objectAt(container, 'securityContext'), field.at('securityContext'), hostUsers);
}

export const validatePullPolicy = (policy: string, field: Field): void => field.oneOf(policy, PULL_POLICIES);

function addName(container: JsonObject, field: Field, names: Set<string>): void {
  const name = textAt(container, 'name');
  if (names.has(name)) field.at('name').duplicate(name);
  names.add(name);
}

const namesOf = (spec: JsonObject, list: string): string[] =>
  objectsAt(spec, list).map((container) => textAt(container, 'name'));

const NOT_EPHEMERAL = [
  ...['ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'],
  ...['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'],
];

export function validateEphemeralContainers(field: Field, context: ContainerContext): void {
  const others = new Set([...namesOf(context.spec, 'containers'), ...namesOf(context.spec, 'initContainers')]);
  const names = new Set(others);
  for (const [index, container] of objectsAt(context.spec, 'ephemeralContainers').entries()) {
    const at = field.at(index);
    validateContainer(container, at, context);
    validateImageText(container, at);
    addName(container, at, names);
    const target = textAt(container, 'targetContainerName');
    if (target !== '' && !others.has(target)) at.at('targetContainerName').notFound(target);
    forbidFields(container, at);
  }
}

function forbidFields(container: JsonObject, field: Field): void {
  const words = 'cannot be set for an Ephemeral Container';
  for (const name of NOT_EPHEMERAL) if (isSet(container, name)) field.at(name).forbidden(words);
  for (const [index, mount] of objectsAt(container, 'volumeMounts').entries())
    for (const name of ['subPath', 'subPathExpr'])
      if (textAt(mount, name) !== '') field.at('volumeMounts', index, name).forbidden(words);
}

/**
 * Returns true if a container field is set. `resources` is a struct that is present in every container, so it counts as set only if it is
 * not empty.
 */
function isSet(container: JsonObject, name: string): boolean {
  const value = valueAt(container, name);
  if (name === 'resources') return Object.keys(objectAt(container, name) ?? {}).length > 0;
  return Array.isArray(value) ? listAt(container, name).length > 0 : value !== undefined;
}

/** Rejects leading and trailing spaces in the image name of a pod's container (validateContainerOnlyForPod). Templates may have them. */
export function validateImageText(container: JsonObject, field: Field): void {
  const image = textAt(container, 'image');
  if (image !== image.trim()) field.at('image').invalid(image, 'must not have leading or trailing whitespace');
}

import { isUtf8 } from 'node:buffer';
import { PodwrightError } from '@podwright/base';
import {
  allContainers,
  type Container,
  type EnvFromSource,
  type EnvVarSource,
  type FileKeySelector,
  type KeySelector,
  type LocalObjectOf,
  type Pod,
  type PodObjects,
  withPodLimits,
} from '@podwright/kube-api';
import { containerResource, type NodeAllocatable, type PodAddresses, podField } from '@podwright/volumes';
import { type EnvironmentFiles, environmentFileValue } from './environment-files.ts';
import { expand } from './expansion.ts';
import type { EnvironmentVariable } from './prepared-container.ts';

/** The kernel's limit on the combined size of a program's arguments and environment: three quarters of 8 MiB (execve(2)). */
const MAX_ENVIRONMENT_LENGTH = 6 << 20;

/** The inputs for building a container's environment. */
export type EnvironmentInput = PodAddresses & {
  pod: Pod;
  container: Container;
  objects: PodObjects;
  files: EnvironmentFiles;
  /** The pod's service environment variables (`<SERVICE>_SERVICE_HOST` etc.); absent if there is no API server. */
  services?: ReadonlyMap<string, string>;
  nodeAllocatable: NodeAllocatable;
};

type SourceKind = 'ConfigMap' | 'Secret';

/**
 * Builds the container's environment, with one entry per name: first `envFrom`, in which later sources take precedence; then `env`, which
 * overrides `envFrom`; then service variables whose names are not taken yet. A value may refer to earlier variables and to service
 * variables. Throws `failed_precondition` if an object or key is missing (the error names it) or if the environment is too large for a
 * program.
 */
export function makeEnvironment(input: EnvironmentInput): EnvironmentVariable[] {
  const variables = new Map<string, string>();
  let length = 0;
  const set = (name: string, text: string) => {
    length += text.length - (variables.get(name)?.length ?? 0);
    if (length > MAX_ENVIRONMENT_LENGTH)
      throw refusal(input, `it is larger than ${MAX_ENVIRONMENT_LENGTH >> 20} MiB, and no program takes that`);
    variables.set(name, text);
  };
  const known = (name: string) => variables.get(name) ?? input.services?.get(name);
  for (const source of input.container.envFrom ?? []) {
    for (const [key, value] of entriesOf(input, source)) set(`${source.prefix ?? ''}${key}`, value);
  }
  for (const { name, value, valueFrom } of input.container.env ?? []) {
    const text = valueFrom === undefined ? expand(value ?? '', known) : resolve(input, valueFrom);
    if (text !== undefined) set(name, text);
  }
  for (const [name, text] of input.services ?? []) if (!variables.has(name)) set(name, text);
  return [...variables].map(([name, value]) => ({ name, value }));
}

/** Returns all entries of the ConfigMap or Secret, sorted by key so that a container gets the same environment after a restart. */
function entriesOf(input: EnvironmentInput, source: EnvFromSource): [string, string][] {
  const kind: SourceKind = source.configMapRef !== undefined ? 'ConfigMap' : 'Secret';
  const ref = source.configMapRef ?? source.secretRef;
  const object = ref === undefined ? undefined : find(input, kind, ref);
  if (object === undefined) return [];
  return Object.keys(object.data ?? {})
    .sort()
    .map((key) => [key, textOf(object, key)!]);
}

/** Returns the value that `valueFrom` refers to, or `undefined` if it is optional and missing. */
function resolve(input: EnvironmentInput, source: EnvVarSource): string | undefined {
  const { pod, container, nodeAllocatable } = input;
  if (source.fieldRef !== undefined) return podField(pod, source.fieldRef.fieldPath, input);
  if (source.resourceFieldRef !== undefined) {
    const name = source.resourceFieldRef.containerName;
    const of =
      name === undefined || name === '' ? container : allContainers(pod.spec).find((other) => other.name === name);
    if (of === undefined) throw refusal(input, `there is no container "${name}" in the pod`);
    return containerResource(withPodLimits(of, pod.spec), source.resourceFieldRef, nodeAllocatable);
  }
  if (source.configMapKeyRef !== undefined) return keyValue(input, 'ConfigMap', source.configMapKeyRef);
  if (source.secretKeyRef !== undefined) return keyValue(input, 'Secret', source.secretKeyRef);
  if (source.fileKeyRef !== undefined) return fileValue(input, source.fileKeyRef);
  return undefined;
}

/** Returns a variable's value from an environment file in a volume. As in upstream, an empty value counts as missing. */
function fileValue({ files }: EnvironmentInput, ref: FileKeySelector): string | undefined {
  const value = environmentFileValue(files, ref);
  if (value !== '' || ref.optional === true) return value === '' ? undefined : value;
  throw new PodwrightError(
    'failed_precondition',
    `environment variable key "${ref.key}" not found in file "${ref.path}" of volume "${ref.volumeName}"`,
  );
}

function keyValue(input: EnvironmentInput, kind: SourceKind, ref: KeySelector): string | undefined {
  const object = find(input, kind, ref);
  if (object === undefined) return undefined;
  const value = textOf(object, ref.key);
  if (value === undefined && ref.optional !== true) {
    const { namespace } = object.metadata;
    throw new PodwrightError('failed_precondition', `couldn't find key ${ref.key} in ${kind} ${namespace}/${ref.name}`);
  }
  return value;
}

function find<K extends SourceKind>(
  input: EnvironmentInput,
  kind: K,
  ref: { name: string; optional?: boolean },
): LocalObjectOf<K> | undefined {
  const { namespace } = input.pod.metadata;
  const object = input.objects.of(input.pod).get(kind, namespace, ref.name);
  if (object === undefined && ref.optional !== true)
    throw new PodwrightError('failed_precondition', `${kind.toLowerCase()} "${ref.name}" not found`);
  return object;
}

function textOf(object: LocalObjectOf<SourceKind>, key: string): string | undefined {
  if (object.data === undefined || !Object.hasOwn(object.data, key)) return undefined;
  const text = object.data[key]!;
  if (object.kind === 'ConfigMap') return text;
  const bytes = Buffer.from(text, 'base64');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const { namespace, name } = object.metadata;
  throw new PodwrightError(
    'failed_precondition',
    `key "${key}" of Secret ${namespace}/${name} is not text, so it cannot be a variable; mount it as a volume`,
  );
}

function refusal({ container }: EnvironmentInput, what: string): PodwrightError {
  return new PodwrightError('failed_precondition', `environment of container ${container.name}: ${what}`);
}

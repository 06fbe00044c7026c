/** Container defaults (SetDefaults_Container, SetDefaults_Probe etc.). */
import { defaultPullPolicy, roundUpToMilli } from '@podwright/kube-api';
import {
  type JsonObject,
  numberAt,
  objectAt,
  textAt,
  textEntriesAt,
  valueAt,
  withItems,
  withValue,
} from '../values.ts';

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const PROBE_NUMBERS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

/** Returns the container with the defaults common to pods and templates. */
export function defaultContainer(container: JsonObject): JsonObject {
  let complete: JsonObject = withDefaults(container, {
    imagePullPolicy: defaultPullPolicy(textAt(container, 'image')),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  complete = withItems(complete, ['ports'], (port) => withDefaults(port, { protocol: 'TCP' }));
  complete = withItems(complete, ['env'], defaultVariable);
  complete = defaultResources(complete, ['resources']);
  for (const name of PROBES) {
    const probe = objectAt(complete, name);
    if (probe !== undefined) complete = { ...complete, [name]: defaultProbe(probe) };
  }
  for (const name of ['postStart', 'preStop']) complete = defaultHttpGet(complete, ['lifecycle', name, 'httpGet']);
  return complete;
}

/** Sets fields that are absent or, as in Go, empty strings. */
export function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([name]) => (valueAt(object, name) ?? '') === '');
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

function defaultVariable(variable: JsonObject): JsonObject {
  const complete = defaultFieldRef(variable, ['valueFrom', 'fieldRef']);
  const file = objectAt(complete, 'valueFrom', 'fileKeyRef');
  if (file === undefined || valueAt(file, 'optional') !== undefined) return complete;
  return withValue(complete, ['valueFrom', 'fileKeyRef', 'optional'], false);
}

/** Defaults a field reference's `apiVersion` to `v1`. */
export function defaultFieldRef(object: JsonObject, path: readonly string[]): JsonObject {
  const ref = objectAt(object, ...path);
  return ref === undefined ? object : withValue(object, path, withDefaults(ref, { apiVersion: 'v1' }));
}

/** Sets the defaults of a probe. Zeros are treated as unset. */
function defaultProbe(probe: JsonObject): JsonObject {
  let complete = probe;
  for (const [name, number] of Object.entries(PROBE_NUMBERS))
    if ((numberAt(probe, name) ?? 0) === 0) complete = { ...complete, [name]: number };
  const grpc = objectAt(probe, 'grpc');
  if (grpc !== undefined && valueAt(grpc, 'service') === undefined)
    complete = { ...complete, grpc: { ...grpc, service: '' } };
  return defaultHttpGet(complete, ['httpGet']);
}

function defaultHttpGet(object: JsonObject, path: readonly string[]): JsonObject {
  const action = objectAt(object, ...path);
  return action === undefined ? object : withValue(object, path, withDefaults(action, { path: '/', scheme: 'HTTP' }));
}

/** Rounds `limits` and `requests` up to milli-units (SetDefaults_ResourceList). */
export function defaultResources(object: JsonObject, path: readonly string[]): JsonObject {
  let complete = object;
  for (const kind of ['limits', 'requests']) complete = defaultAmounts(complete, [...path, kind]);
  return complete;
}

export function defaultAmounts(object: JsonObject, path: readonly string[]): JsonObject {
  const amounts = textEntriesAt(object, ...path);
  if (amounts.every(([, quantity]) => roundUpToMilli(quantity) === quantity)) return object;
  return withValue(
    object,
    path,
    Object.fromEntries(amounts.map(([name, quantity]) => [name, roundUpToMilli(quantity)])),
  );
}

import type {
  Container,
  ContainerPort,
  EnvVar,
  EnvVarSource,
  HttpGetAction,
  Lifecycle,
  LifecycleHandler,
  PodSpec,
  Probe,
  PullPolicy,
  ResourceList,
  ResourceRequirements,
} from '../objects/types.ts';
import { roundUpToMilli } from '../values/quantity.ts';

/** Returns the container with all defaults set. */
export function completeContainer(container: Container, spec: PodSpec): Container {
  return {
    ...container,
    imagePullPolicy: container.imagePullPolicy ?? defaultPullPolicy(container.image ?? ''),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy ?? 'File',
    resources: completeResources(container.resources ?? {}),
    ...present(
      'ports',
      container.ports?.map((port) => completePort(port, spec.hostNetwork === true)),
    ),
    ...present('env', container.env?.map(completeVariable)),
    ...present('livenessProbe', container.livenessProbe && completeProbe(container.livenessProbe)),
    ...present('readinessProbe', container.readinessProbe && completeProbe(container.readinessProbe)),
    ...present('startupProbe', container.startupProbe && completeProbe(container.startupProbe)),
    ...present('lifecycle', container.lifecycle && completeLifecycle(container.lifecycle)),
  };
}

/** Returns an object with only this field, or an empty object if the value is `undefined`. */
function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
/** An image reference: a domain, path components and a tag. */
const REFERENCE = new RegExp(
  `^(?:[A-Za-z0-9.-]+(?::\\d+)?/|\\[[0-9a-f:]+\\](?::\\d+)?/)?${COMPONENT}(?:/${COMPONENT})*(?::\\w[\\w.-]{0,127})?$`,
);
const MAX_NAME_LENGTH = 255;

/**
 * Returns `Always` for the tag `latest`, whether explicit or implied, and `IfNotPresent` for any other tag, a digest, or an invalid image
 * reference.
 */
export function defaultPullPolicy(image: string): PullPolicy {
  if (image.length > MAX_NAME_LENGTH + 128 || !REFERENCE.test(image)) return 'IfNotPresent';
  if (image.replace(/:[^:/]+$/, '').length > MAX_NAME_LENGTH) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Defaults missing requests to the limits, and rounds quantities up to milli-units. */
function completeResources({ limits, requests, ...others }: ResourceRequirements): ResourceRequirements {
  if (limits === undefined) return { ...others, ...present('requests', requests && roundedUp(requests)) };
  return { ...others, limits: roundedUp(limits), requests: roundedUp({ ...limits, ...requests }) };
}

function roundedUp(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, roundUpToMilli(text)]));
}

function completePort(port: ContainerPort, hostNetwork: boolean): ContainerPort {
  const { hostPort: given, ...others } = port;
  const hostPort = given || (hostNetwork ? port.containerPort : undefined); // 0 means none, as in upstream
  return { ...others, protocol: port.protocol ?? 'TCP', ...present('hostPort', hostPort) };
}

function completeVariable(variable: EnvVar): EnvVar {
  const { valueFrom } = variable;
  if (valueFrom === undefined) return variable;
  const { fileKeyRef } = valueFrom;
  const file = present('fileKeyRef', fileKeyRef && { ...fileKeyRef, optional: fileKeyRef.optional ?? false });
  return { ...variable, valueFrom: { ...completeReference(valueFrom), ...file } };
}

/** Sets the defaults of a `fieldRef` or `resourceFieldRef`. The divisor defaults to 0, which is treated as 1. */
export function completeReference<T extends Pick<EnvVarSource, 'fieldRef' | 'resourceFieldRef'>>(source: T): T {
  const { fieldRef, resourceFieldRef } = source;
  return {
    ...source,
    ...present('fieldRef', fieldRef && { ...fieldRef, apiVersion: fieldRef.apiVersion || 'v1' }),
    ...present(
      'resourceFieldRef',
      resourceFieldRef && { ...resourceFieldRef, divisor: resourceFieldRef.divisor ?? '0' },
    ),
  };
}

/** Sets the defaults of a probe. As in the API, 0 is treated as unset. */
function completeProbe(probe: Probe): Probe {
  return {
    ...probe,
    ...present('httpGet', probe.httpGet && completeHttpGet(probe.httpGet)),
    ...present('grpc', probe.grpc && { ...probe.grpc, service: probe.grpc.service ?? '' }),
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  };
}

function completeHttpGet(action: HttpGetAction): HttpGetAction {
  return { ...action, path: action.path || '/', scheme: action.scheme ?? 'HTTP' };
}

function completeLifecycle(lifecycle: Lifecycle): Lifecycle {
  return {
    ...lifecycle,
    ...present('postStart', lifecycle.postStart && completeHandler(lifecycle.postStart)),
    ...present('preStop', lifecycle.preStop && completeHandler(lifecycle.preStop)),
  };
}

function completeHandler(handler: LifecycleHandler): LifecycleHandler {
  return { ...handler, ...present('httpGet', handler.httpGet && completeHttpGet(handler.httpGet)) };
}

/** Decides whether an extension API server is available (kube-aggregator, controllers/status/remote). */
import { endpointSlicesOf, type ObjectStore } from '@podwright/api-machinery';
import { errorMessage } from '@podwright/base';
import { type ApiObject, numberAt, objectAt, objectsAt, textAt, type UserInfo, valueAt } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { dialError } from '../backends/dial-error.ts';
import { askExtension, type ExtensionParts, extensionBackend } from './extension-backend.ts';
import type { Registration } from './registration.ts';

/** The `Available` condition of an APIService. */
export type Availability = { status: 'True' | 'False'; reason: string; message: string };

/** The user as which this server itself sends requests to extension API servers. */
export const AGGREGATOR: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };

const MAX_CHECK_MS = 5000;
/** Maximum size of the response to an availability check. Only the response's status is used, not its body. */
const MAX_CHECK_BYTES = 4 << 20;
/** Number of further attempts made by an availability check if the first endpoint of the Service does not respond, as in upstream. */
const MORE_ATTEMPTS = 4;

const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

const unavailable = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

/** Checks the Service, its endpoints, and whether the extension API server responds to discovery requests. */
export async function availabilityOf(
  registration: Registration,
  parts: ExtensionParts,
  signal: AbortSignal,
): Promise<Availability> {
  const problem = serviceProblem(registration, parts.store);
  if (problem !== undefined) return problem;
  const attempt = () => discoveryProblem(registration, parts, signal);
  if ((await attempt()) === undefined) return PASSED;
  const others = await Promise.all(Array.from({ length: MORE_ATTEMPTS }, attempt));
  const failed = others.includes(undefined) ? undefined : others.at(-1);
  return failed === undefined ? PASSED : unavailable('FailedDiscoveryCheck', failed);
}

/** Returns why the Service has no ready endpoint; `undefined` if it has one, or if the Service is not of type ClusterIP. */
export function serviceProblem({ service: at }: Registration, store: ObjectStore): Availability | undefined {
  const { namespace, name } = at;
  const shown = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = store.get({ resource: 'services', namespace, name })?.decode();
  if (service === undefined) return unavailable('ServiceNotFound', `${shown} is not present`);
  if ((textAt(service, 'spec', 'type') || 'ClusterIP') !== 'ClusterIP') return undefined;
  const port = objectsAt(service, 'spec', 'ports').find((one) => numberAt(one, 'port') === at.port);
  if (port === undefined) return unavailable('ServicePortError', `${shown} is not listening on port ${at.port}`);
  const slices = endpointSlicesOf(store, at);
  if (slices.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${shown}`);
  const portName = textAt(port, 'name');
  if (slices.some((slice) => isReady(slice, portName))) return undefined;
  const message = `endpointslices for ${shown} have no addresses with port name ${JSON.stringify(portName)}`;
  return unavailable('MissingEndpoints', message);
}

const isReady = (slice: ApiObject, portName: string): boolean =>
  objectsAt(slice, 'endpoints').some((one) => valueAt(objectAt(one, 'conditions'), 'ready') !== false) &&
  objectsAt(slice, 'ports').some((one) => textAt(one, 'name') === portName && numberAt(one, 'port') !== undefined);

/** Returns why the extension API server does not respond to a discovery request; `undefined` if it does. */
async function discoveryProblem(
  registration: Registration,
  parts: ExtensionParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { group, version } = registration;
  const path = `/apis/${group}/${version}`;
  let backend: Backend;
  try {
    backend = await extensionBackend(registration, parts);
  } catch (error) {
    return errorMessage(error);
  }
  const url = `https://${backend.authority}${path}`;
  try {
    const call = { path, user: AGGREGATOR, timeoutMs: MAX_CHECK_MS, maxBytes: MAX_CHECK_BYTES, signal };
    const { status } = await askExtension(backend, call);
    if (status >= 200 && status < 300) return undefined;
    return `failing or missing response from ${url}: bad status from ${url}: ${status}`;
  } catch (error) {
    return `failing or missing response from ${url}: Get "${url}": ${dialError(error, backend.authority)}`;
  }
}

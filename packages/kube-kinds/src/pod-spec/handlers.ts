/** Validates the probes and lifecycle hooks of containers (validateProbe, validateHandler, validateLifecycle). */
import type { Field } from '../field.ts';
import { httpHeaderNameProblems } from '../texts.ts';
import { type JsonObject, listAt, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validatePortOrName } from './container-ports.ts';
import { LINUX_STOP_SIGNALS, WINDOWS_STOP_SIGNALS } from './stop-signals.ts';

export type HandlerContext = {
  /** The pod's `terminationGracePeriodSeconds`. */
  gracePeriodSeconds: number | undefined;
  /** The pod's `os.name`. */
  os: string | undefined;
};

const SCHEMES = ['HTTP', 'HTTPS'];
const PROBE_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const LIFECYCLE_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'sleep'];
const COUNTS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

/** Validates a container's three probes. */
export function validateProbes(container: JsonObject, field: Field, context: HandlerContext): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = objectAt(container, name);
    if (probe === undefined) continue;
    const at = field.at(name);
    validateProbe(probe, at, context);
    const successThreshold = numberAt(probe, 'successThreshold') ?? 0;
    if (name !== 'readinessProbe' && successThreshold !== 1)
      at.at('successThreshold').invalid(successThreshold, 'must be 1');
    const grace = numberAt(probe, 'terminationGracePeriodSeconds');
    if (name === 'readinessProbe' && grace !== undefined)
      at.at('terminationGracePeriodSeconds').invalid(grace, 'must not be set for readinessProbes');
  }
}

function validateProbe(probe: JsonObject, field: Field, context: HandlerContext): void {
  validateHandler(probe, field, { context, names: PROBE_HANDLERS });
  for (const name of COUNTS) field.at(name).notNegative(numberAt(probe, name));
  const grace = numberAt(probe, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace <= 0)
    field.at('terminationGracePeriodSeconds').invalid(grace, 'must be greater than 0');
}

export function validateLifecycle(container: JsonObject, field: Field, context: HandlerContext): void {
  const lifecycle = objectAt(container, 'lifecycle');
  for (const name of ['postStart', 'preStop']) {
    const handler = objectAt(lifecycle, name);
    if (handler !== undefined) validateHandler(handler, field.at(name), { context, names: LIFECYCLE_HANDLERS });
  }
  if (valueAt(lifecycle, 'stopSignal') !== undefined)
    validateStopSignal(textAt(lifecycle, 'stopSignal'), field.at('stopSignal'), context.os);
}

function validateStopSignal(signal: string, field: Field, os: string | undefined): void {
  if (os === undefined) return field.forbidden('may not be set for containers with empty `spec.os.name`');
  const supported = os === 'windows' ? WINDOWS_STOP_SIGNALS : os === 'linux' ? LINUX_STOP_SIGNALS : [signal];
  if (!supported.includes(signal)) field.notSupported(signal, supported);
}

/** Validates a probe's or lifecycle hook's handler. Exactly one of the named fields must be set. */
function validateHandler(
  handler: JsonObject,
  field: Field,
  { context, names }: { context: HandlerContext; names: readonly string[] },
): void {
  const present = names.filter((name) => objectAt(handler, name) !== undefined);
  for (const [order, name] of present.entries()) {
    const at = field.at(name);
    if (order > 0) at.forbidden('may not specify more than 1 handler type');
    else validateAction(name, objectAt(handler, name)!, { field: at, context });
  }
  if (present.length === 0) field.required('must specify a handler type');
}

function validateAction(
  name: string,
  action: JsonObject,
  { field, context }: { field: Field; context: HandlerContext },
): void {
  if (name === 'exec' && listAt(action, 'command').length === 0) field.at('command').required();
  if (name === 'httpGet') validateHttpGet(action, field);
  if (name === 'tcpSocket' || name === 'grpc') validatePortOrName(valueAt(action, 'port'), field.at('port'));
  if (name === 'sleep') validateSleep(numberAt(action, 'seconds') ?? 0, field, context);
}

function validateHttpGet(action: JsonObject, field: Field): void {
  if (textAt(action, 'path') === '') field.at('path').required();
  validatePortOrName(valueAt(action, 'port'), field.at('port'));
  const scheme = textAt(action, 'scheme');
  if (!SCHEMES.includes(scheme)) field.at('scheme').notSupported(scheme, SCHEMES);
  for (const header of objectsAt(action, 'httpHeaders')) {
    const name = textAt(header, 'name');
    field.at('httpHeaders').invalidEach(name, httpHeaderNameProblems(name));
  }
}

function validateSleep(seconds: number, field: Field, { gracePeriodSeconds }: HandlerContext): void {
  if (gracePeriodSeconds === undefined || (seconds >= 0 && seconds <= gracePeriodSeconds)) return;
  field.invalid(seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`);
}

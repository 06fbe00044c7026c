import type { IssueList } from '../issue.ts';
import type { Container, HttpGetAction, IntOrString, LifecycleHandler, Probe, ProbeHandler } from '../objects/types.ts';
import { portName } from './names.ts';
import { exactlyOne, MAX_INT32, within } from './rules.ts';

const httpToken = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/;
const MAX_PORT = 65_535;

/** Validates a container's three probes. */
export function validateProbes(container: Container, issues: IssueList): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) validateProbe(livenessProbe, issues.at('livenessProbe'));
  if (readinessProbe) validateProbe(readinessProbe, issues.at('readinessProbe'));
  if (startupProbe) validateProbe(startupProbe, issues.at('startupProbe'));
  for (const [field, probe] of [
    ['livenessProbe', livenessProbe],
    ['startupProbe', startupProbe],
  ] as const) {
    if (probe !== undefined && probe.successThreshold !== 1) issues.at(field, 'successThreshold').add('must be 1');
  }
  if (readinessProbe?.terminationGracePeriodSeconds !== undefined) {
    issues.at('readinessProbe', 'terminationGracePeriodSeconds').addKey('must not be set for readiness probes');
  }
}

function validateProbe(probe: Probe, issues: IssueList): void {
  exactlyOne(probe, ['exec', 'httpGet', 'tcpSocket', 'grpc'], issues);
  validateHandler(probe, issues);
  if (probe.grpc) validatePort(probe.grpc.port, issues.at('grpc', 'port'));
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    within(probe[field], { min: 0, max: MAX_INT32 }, issues.at(field));
  }
  within(probe.terminationGracePeriodSeconds, { min: 1 }, issues.at('terminationGracePeriodSeconds'));
}

/** Validates a lifecycle hook; `graceSeconds` is the pod's grace period. */
export function validateHook(handler: LifecycleHandler, graceSeconds: number, issues: IssueList): void {
  exactlyOne(handler, ['exec', 'httpGet', 'tcpSocket', 'sleep'], issues);
  validateHandler(handler, issues);
  const seconds = handler.sleep?.seconds;
  if (seconds !== undefined && (seconds < 0 || seconds > graceSeconds)) {
    issues
      .at('sleep', 'seconds')
      .add(`must be between 0 and terminationGracePeriodSeconds (${graceSeconds}), got ${seconds}`);
  }
}

function validateHandler(handler: ProbeHandler | LifecycleHandler, issues: IssueList): void {
  if (handler.exec?.command.length === 0) issues.at('exec', 'command').add('must not be empty');
  if (handler.tcpSocket) validatePort(handler.tcpSocket.port, issues.at('tcpSocket', 'port'));
  if (handler.httpGet) validateHttpGet(handler.httpGet, issues.at('httpGet'));
}

function validateHttpGet(action: HttpGetAction, issues: IssueList): void {
  validatePort(action.port, issues.at('port'));
  for (const [index, header] of (action.httpHeaders ?? []).entries()) {
    const place = issues.at('httpHeaders', index);
    if (!httpToken.test(header.name)) place.at('name').add(`must be an HTTP header name, got "${header.name}"`);
    if (/[\r\n\0]/.test(header.value ?? '')) place.at('value').add('must not contain line ends');
  }
}

function validatePort(port: IntOrString, issues: IssueList): void {
  if (typeof port === 'string') portName(port, issues);
  else within(port, { min: 1, max: MAX_PORT }, issues);
}

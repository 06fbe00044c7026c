/** Determines from conditions and events why a workload cannot create pods. Pure. */
import { firstLine } from '../causes/containers.ts';
import type { Finding, ViewedEvent } from '../causes/finding.ts';

/** Patterns of API server errors in workload conditions and events. The first match wins. `$NS` in an advice: the namespace. */
const REFUSALS: [cause: string, pattern: RegExp, sentence: string, advice: string][] = [
  [
    'quota',
    /exceeded quota: ([^,]+)/,
    'the quota "$1" of the namespace is used up',
    'Raise the quota (`kubectl get resourcequota -n $NS`), lower the requests of the pods, or delete objects that use it.',
  ],
  [
    'quota',
    /failed quota: ([^:]+): must specify/,
    'the quota "$1" of the namespace requires requests or limits that the pods do not have',
    'Set requests and limits in the template, or defaults by a LimitRange.',
  ],
  [
    'webhook',
    /admission webhook "([^"]+)" denied the request/,
    'the admission webhook "$1" denies its pods',
    'Correct what the message names.',
  ],
  [
    'webhook',
    /failed calling webhook "([^"]+)"/,
    'the admission webhook "$1" cannot be called',
    'Check the Service and the pods of the webhook, or remove its configuration.',
  ],
  [
    'policy',
    /violates PodSecurity "([^"]+)"/,
    'its pods violate the security level "$1" of the namespace',
    'Correct what the message names, or change the label pod-security.kubernetes.io/enforce of the namespace.',
  ],
  [
    'service-account',
    /serviceaccount "([^"]+)" not found/,
    'its service account "$1" does not exist',
    'Create the service account, or correct serviceAccountName in the template.',
  ],
  [
    'limit-range',
    /(?:minimum|maximum) (?:cpu|memory|[\w-]+) usage per/,
    'its pods violate the limits of a LimitRange',
    'Correct the requests and limits in the template (`kubectl describe limitrange -n $NS`).',
  ],
];

/** Explains why a workload's pods cannot be created, or returns undefined if no condition or event reports a failure. */
export function creationFailure(
  conditionMessage: string | undefined,
  events: readonly ViewedEvent[],
  namespace: string,
): Finding | undefined {
  const event = events.findLast(({ reason }) => reason === 'FailedCreate');
  const message = conditionMessage ?? event?.message;
  if (message === undefined) return undefined;
  const shown = firstLine(message.replace(/^Error creating: /, ''));
  for (const [cause, pattern, sentence, advice] of REFUSALS) {
    const match = pattern.exec(message);
    if (match === null) continue;
    return {
      cause,
      sentence: `no pod can be created: ${sentence.replace('$1', match[1] ?? '')}`,
      advice: [advice.replace('$NS', namespace), `The API server responded: ${shown}`],
    };
  }
  return {
    cause: 'creation',
    sentence: `no pod can be created: ${shown}`,
    advice: ['Correct what the message names.'],
  };
}

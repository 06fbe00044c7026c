import { counted } from '@podwright/base';
/** Causes of containers that ran and then terminated. */
import { type ContainerEnd, containerOf, containerOfEvent, endsOf, firstLine, lastEvent } from './containers.ts';
import type { Finding, LogEnd, PodCause, PodFacts } from './finding.ts';
import { probeResult } from './probe-text.ts';

/** Patterns of log lines that reveal why a container terminated. The first match wins. */
const LOG_RULES: [cause: string, pattern: RegExp, sentence: string, advice: string][] = [
  [
    'exec-format',
    /exec format error/i,
    'its program is for another processor architecture',
    'Use an image for the architecture of this machine.',
  ],
  [
    'read-only',
    /read-only file ?system|EROFS/i,
    'it writes to a file system that is read-only',
    'Mount an emptyDir where it writes, or set readOnlyRootFilesystem or the readOnly of the mount to false.',
  ],
  [
    'permission',
    /permission denied|EACCES|EPERM|operation not permitted/i,
    'it lacks a permission',
    'Compare the user of the container (runAsUser, runAsGroup, fsGroup) with the owner of the file; ports below 1024 and system calls may need capabilities.',
  ],
  [
    'dns',
    /no such host|could not resolve|name or service not known|temporary failure in name resolution|ENOTFOUND|EAI_AGAIN|bad address|can't resolve|nxdomain/i,
    'a name that it connects to cannot be resolved',
    'Check the name: SERVICE for a Service of the same namespace, SERVICE.NAMESPACE for another one.',
  ],
  [
    'clock',
    /certificate has expired|not yet valid|CERT_HAS_EXPIRED/i,
    "a certificate is not valid at this machine's time",
    'Compare the time of this machine with the real one; if it is right, renew the certificate.',
  ],
  [
    'port-in-use',
    /address already in use|EADDRINUSE/i,
    'another container of the pod or, with hostNetwork, another program of the machine uses its port',
    'Use another port.',
  ],
  [
    'dependency',
    /connection refused|ECONNREFUSED|connection timed out|ETIMEDOUT|no route to host/i,
    'something that it connects to does not answer',
    'Check whether the server that it connects to is ready; make the program retry instead of exiting.',
  ],
  ['no-space', /no space left on device|ENOSPC/i, 'a disk or a volume is full', 'Free space, or give the volume more.'],
];

/** Whether the log is that of the container `name` and has lines. */
export const isOf = (log: LogEnd | undefined, name: string): log is LogEnd =>
  log?.container === name && log.lines.length > 0;

function fromLog(log: LogEnd): Pick<Finding, 'cause' | 'sentence' | 'advice'> | undefined {
  for (const line of log.lines.toReversed()) {
    const rule = LOG_RULES.find(([, pattern]) => pattern.test(line));
    if (rule !== undefined) return { cause: rule[0], sentence: rule[2], advice: [rule[3]] };
  }
  return undefined;
}

export const outOfMemory: PodCause = ({ pod }) => {
  const killed = endsOf(pod).find(({ end }) => end.reason === 'OOMKilled');
  if (killed === undefined) return undefined;
  const { name, restartCount } = killed.status;
  const limit = containerOf(pod, name)?.resources?.limits?.memory;
  return {
    cause: 'out-of-memory',
    sentence: `container ${name} needs more memory than ${limit === undefined ? 'there is' : `its limit of ${limit}`}: the kernel killed it${restartCount === 0 ? '' : `; ${counted(restartCount, 'restart')} so far`}`,
    advice: memoryAdvice(limit),
  };
};

/** Returns the advice for a container that was killed for memory. `limit`: its memory limit. */
export const memoryAdvice = (limit: string | number | undefined): string[] => [
  limit === undefined
    ? 'Set a memory request and limit that fit its needs, or find out which processes use the memory of the machine.'
    : 'Raise resources.limits.memory, or limit what the program uses (for example the heap size of a JVM or of Node.js).',
];

export const livenessKill: PodCause = (facts) => {
  const event = lastEvent(facts, ['Unhealthy'], /^(Liveness|Startup) probe/);
  const name = event && containerOfEvent(event);
  const status = facts.pod.status?.containerStatuses?.find((one) => one.name === name);
  if (event === undefined || status === undefined || status.restartCount === 0 || status.ready) return undefined;
  const killed = lastEvent(facts, ['Killing'], /failed (liveness|startup) probe/);
  const end = status.lastState?.terminated;
  if (killed === undefined || end === undefined) return undefined;
  const container = containerOf(facts.pod, name!);
  const isStartup = event.message.startsWith('Startup');
  const probe = isStartup ? container?.startupProbe : container?.livenessProbe;
  const ranSeconds = Math.round((Date.parse(end.finishedAt ?? '') - Date.parse(end.startedAt ?? '')) / 1000);
  const patience = (probe?.initialDelaySeconds ?? 0) + (probe?.failureThreshold ?? 3) * (probe?.periodSeconds ?? 10);
  return {
    cause: isStartup ? 'startup-probe' : 'liveness-probe',
    sentence: `the ${isStartup ? 'startup' : 'liveness'} probe of container ${name} fails, and the kubelet restarts it${again(status.restartCount)}: ${probeResult(event.message, { probe, container })}`,
    advice: [
      `The container ran for ${ranSeconds} s and the probe allows about ${patience} s: if it needs longer to start, give it a startupProbe or a higher failureThreshold.`,
      'If it never answers, check the port and the path of the probe, and that the program listens on all addresses rather than on 127.0.0.1.',
    ],
  };
};

const again = (restarts: number) => (restarts === 0 ? '' : `, ${counted(restarts, 'time')} so far`);

export const endedAgain: PodCause = (facts) => {
  const { pod, log } = facts;
  const [ended] = endsOf(pod);
  if (ended === undefined) return undefined;
  const { status, end } = ended;
  const isInit = pod.status?.initContainerStatuses?.includes(status) ?? false;
  if (end.exitCode === 0) return isInit || pod.status?.phase === 'Succeeded' ? undefined : endedWell(facts, status);
  const { name } = status;
  const seen = isOf(log, name) ? { log } : {};
  const known = causeOfEnd(log, { name, end });
  const how = end.signal ? `killed by signal ${end.signal}` : `exit code ${end.exitCode}`;
  const who = `${isInit ? 'init container' : 'container'} ${name}`;
  return {
    cause: known.cause,
    sentence: `${who} fails (${how})${again(status.restartCount)}: ${known.sentence}`,
    advice: known.advice,
    ...seen,
  };
};

/** Returns what the log, the exit code or the termination message of a container reveal about why it ended. */
export function causeOfEnd(
  log: LogEnd | undefined,
  { name, end }: { name: string; end: ContainerEnd['end'] },
): Pick<Finding, 'cause' | 'sentence' | 'advice'> {
  if (end.exitCode === 0) return { cause: 'exits-with-0', sentence: 'its program ended by itself', advice: ENDS_WELL };
  return (isOf(log, name) ? fromLog(log) : undefined) ?? byCode(end.exitCode, end.message ?? '');
}

const ENDS_WELL = [
  'A server must run in the foreground: look for an option such as --foreground, or "daemon off".',
  'For work that ends, use a Job, or restartPolicy OnFailure or Never.',
];

function endedWell(
  { pod, log }: PodFacts,
  { name, restartCount }: { name: string; restartCount: number },
): Finding | undefined {
  if (pod.spec.restartPolicy !== undefined && pod.spec.restartPolicy !== 'Always') return undefined;
  return {
    cause: 'exits-with-0',
    sentence: `container ${name} ends with exit code 0, and a pod with restartPolicy Always starts it again${again(restartCount)}`,
    advice: ENDS_WELL,
    ...(isOf(log, name) && { log }),
  };
}

function byCode(code: number, message: string): Pick<Finding, 'cause' | 'sentence' | 'advice'> {
  if (code === 127)
    return {
      cause: 'no-program',
      sentence: 'a command of its shell was not found',
      advice: ['Check command and args, and what the image contains.'],
    };
  if (code === 126)
    return {
      cause: 'not-executable',
      sentence: 'a file could not be executed',
      advice: ['Make the file executable, and check its interpreter and architecture.'],
    };
  if (code === 137)
    return {
      cause: 'killed',
      sentence: 'it was killed with SIGKILL',
      advice: ['It did not exit by itself: a failed probe, a memory limit or a user killed it. See its events.'],
    };
  const sentence = message.trim() === '' ? 'its log says why' : firstLine(message);
  return {
    cause: 'crash',
    sentence,
    advice: [],
  };
}

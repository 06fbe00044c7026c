/** Causes for containers that cannot be created or started, and for volumes that cannot be mounted. */
import { containerOf, containerOfEvent, firstLine, lastEvent, waitingFor } from './containers.ts';
import type { Finding, PodCause } from './finding.ts';

const CREATE = [
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CreatePodSandboxError',
  'StartError',
];

type Rule = [cause: string, pattern: RegExp, sentence: string, advice: string];

/** Patterns in error messages of the kubelet and the OCI runtime. The first match wins. */
const RULES: Rule[] = [
  [
    'missing-key',
    /couldn't find key (\S+) in (ConfigMap|Secret) (\S+)/i,
    '$2 $3 has no key "$1"',
    'Add the key, correct its name in the pod, or mark the reference optional.',
  ],
  [
    'missing-object',
    /(configmap|secret) "([^"]+)" not found/i,
    'the $1 "$2" does not exist in its namespace',
    'Create it in the namespace of the pod, correct its name, or mark the reference optional.',
  ],
  [
    'runs-as-root',
    /runAsNonRoot/,
    'runAsNonRoot is set, and its user is root or is not given as a number',
    'Set securityContext.runAsUser to a number other than 0 that the image works with.',
  ],
  [
    'exec-format',
    /exec format error/i,
    'its program is for another processor architecture, or a script without a first line "#!"',
    'Use an image for the architecture of this machine.',
  ],
  [
    'no-program',
    /exec: "([^"]+)": (?:executable file not found|stat [^:]+: no such file)|executable file ["`]?([^"`\s]+)["`]? not found/i,
    'the image has no program "$1"',
    "Correct command and args: command replaces the image's entrypoint, and is not run by a shell.",
  ],
  [
    'not-executable',
    /exec: "([^"]+)": permission denied|permission denied: unknown/i,
    'the program "$1" may not be executed',
    'Make the file executable in the image (chmod +x), or start it with its interpreter.',
  ],
  [
    'mount-type',
    /not a directory|is a directory/i,
    'a file is mounted over a directory, or a directory over a file',
    'Use subPath for single files, and check mountPath.',
  ],
];

function byRules(text: string): Finding | undefined {
  for (const [cause, pattern, sentence, advice] of RULES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const groups = match.slice(1).filter((group) => group !== undefined);
    return {
      cause,
      sentence: sentence.replace(/\$(\d)/g, (_, index) => groups[Number(index) - 1] ?? ''),
      advice: [advice],
    };
  }
  return undefined;
}

export const startFailure: PodCause = (facts) => {
  const { pod } = facts;
  const waiting = waitingFor(pod, CREATE);
  const ended = endedAtStart(facts);
  if (waiting === undefined && ended === undefined) return undefined;
  const { name, message } = waiting ?? ended!;
  const failed = lastEvent(facts, ['Failed', 'FailedCreatePodSandBox'], /^Error: |./);
  const text = [message, failed?.message ?? ''].join('\n');
  const known = byRules(text);
  if (known === undefined)
    return {
      cause: 'start',
      sentence: `container ${name} cannot be started: ${firstLine(text)}`,
      advice: ['Correct what the message names.'],
    };
  return { ...known, sentence: `container ${name} cannot be started: ${known.sentence}` };
};

/** Returns a container that terminated because its runtime could not start its program (StartError, ContainerCannotRun). */
function endedAtStart({ pod }: { pod: import('@podwright/kube-api').Pod }) {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  for (const { name, state, lastState } of [...initContainerStatuses, ...containerStatuses]) {
    const end = state?.terminated ?? lastState?.terminated;
    if (end?.reason === 'StartError' || end?.reason === 'ContainerCannotRun')
      return { name, message: end.message ?? '' };
  }
  return undefined;
}

/** Recognizes volumes that the kubelet cannot mount. No container of the pod is started before they are mounted. */
export const volumeFailure: PodCause = (facts) => {
  const isHeld =
    facts.pod.status?.phase === 'Pending' && waitingFor(facts.pod, ['ContainerCreating', 'PodInitializing']);
  const event = isHeld ? lastEvent(facts, ['FailedMount', 'FailedAttachVolume', 'FailedMapVolume']) : undefined;
  if (event === undefined) return undefined;
  const volume = /for volume "([^"]+)"/.exec(event.message)?.[1];
  const known = byRules(event.message);
  const what = known?.sentence ?? firstLine(event.message);
  return {
    cause: known?.cause ?? 'volume',
    sentence: `${volume === undefined ? 'a volume' : `its volume "${volume}"`} cannot be mounted: ${what}`,
    advice: known?.advice ?? ['Correct what the message names.'],
  };
};

/** Recognizes sandboxes that the runtime cannot create, for example because of the network, cgroups or the runtime class. */
export const sandboxFailure: PodCause = (facts) => {
  const hasStarted = facts.pod.status?.podIP !== undefined;
  const event = hasStarted ? undefined : lastEvent(facts, ['FailedCreatePodSandBox', 'NetworkNotReady']);
  if (event === undefined || facts.pod.status?.phase !== 'Pending') return undefined;
  return {
    cause: event.reason === 'NetworkNotReady' ? 'network' : 'sandbox',
    sentence: `its sandbox cannot be created: ${firstLine(event.message)}`,
    advice: ['Run `podwright doctor` on the machine: it names what the host lacks.'],
  };
};

/** Recognizes postStart hooks that fail, upon which the kubelet kills the container. */
export const hookFailure: PodCause = (facts) => {
  const event = lastEvent(facts, ['FailedPostStartHook']);
  const name = event && containerOfEvent(event);
  const status = facts.pod.status?.containerStatuses?.find((one) => one.name === name);
  if (event === undefined || status?.ready) return undefined;
  const command = containerOf(facts.pod, name ?? '')?.lifecycle?.postStart?.exec?.command?.join(' ');
  return {
    cause: 'hook',
    sentence: `the postStart hook of container ${name} fails, and ends it: ${firstLine(event.message)}`,
    advice: [
      `Try the hook in the container${command === undefined ? '' : ` (${firstLine(command)})`}; it runs at the same time as the container's own program and must not need it.`,
    ],
  };
};

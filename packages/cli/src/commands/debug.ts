import { randomInt } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import type { ContainerStatus, EnvVar, EphemeralContainer, Pod, PullPolicy } from '@podwright/kube-api';
import { NodeClient } from '../client/node-client.ts';
import { printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { attachContainer } from './attach.ts';
import { type DebugProfile, profileContext } from './debug-profiles.ts';
import { logs } from './logs.ts';
import { findPod } from './pod-arguments.ts';

export type DebugOptions = {
  namespace: string;
  image: string;
  container?: string;
  target?: string;
  stdin?: boolean;
  tty?: boolean;
  /** Whether to attach to the debug container. Default: the value of `stdin`. */
  attach?: boolean;
  argumentsOnly?: boolean;
  env: EnvVar[];
  imagePullPolicy?: PullPolicy;
  profile: DebugProfile;
  quiet?: boolean;
};

/** `podwright debug POD --image IMAGE`: adds a debug container to a running pod and, if requested, attaches to it. */
export async function debug(
  context: CommandContext,
  target: { pod: string; command: string[] },
  options: DebugOptions,
): Promise<number> {
  const { config } = context;
  const client = new NodeClient(config.apiSocket);
  const pod = await findPod(client, target.pod, options.namespace);
  const container = debugContainer(pod, target.command, options);
  const report = (text: string) => (options.quiet ? undefined : printError(text));
  if (options.container === undefined) report(`Defaulting debug container name to ${container.name}.`);
  if (options.target !== undefined)
    report(`The processes of container ${options.target} are shown, if each container of the pod has its own.`);
  await client.addEphemeralContainer(pod.metadata, container);
  if (!(options.attach ?? options.stdin)) return 0;
  const { pod: now, status } = await started(client, pod, container.name);
  if (status.state.running !== undefined)
    return attachContainer({ socketPath: config.apiSocket, pod: now, container: container.name }, options);
  const { namespace, name } = pod.metadata;
  await logs(context, { pod: name, container: container.name }, { namespace, maxLogRequests: 1 });
  return status.state.terminated?.exitCode ?? 0;
}

/** Builds the container to add. Fields not set by flags get the node's defaults. */
export function debugContainer(pod: Pod, command: string[], options: DebugOptions): EphemeralContainer {
  const { image, target, imagePullPolicy, env } = options;
  if (options.tty && !options.stdin)
    throw new PodwrightError('invalid_argument', 'debug: -t needs -i: a terminal without standard input is of no use');
  const securityContext = profileContext(options.profile);
  return {
    name: options.container ?? freeName(pod),
    image,
    ...(imagePullPolicy && { imagePullPolicy }),
    ...(command.length > 0 && { [options.argumentsOnly ? 'args' : 'command']: command }),
    ...(env.length > 0 && { env }),
    ...(options.stdin && { stdin: true }),
    ...(options.tty && { tty: true }),
    ...(target && { targetContainerName: target }),
    ...(securityContext && { securityContext }),
    terminationMessagePolicy: 'File',
  };
}

/** Characters for generated names. They include no vowels, to avoid forming words (apimachinery, util/rand). */
const NAME_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789';

function freeName({ spec }: Pod): string {
  const taken = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  for (;;) {
    const suffix = Array.from({ length: 5 }, () => NAME_CHARACTERS[randomInt(NAME_CHARACTERS.length)]).join('');
    if (taken.every(({ name }) => name !== `debugger-${suffix}`)) return `debugger-${suffix}`;
  }
}

/** Waits until the debug container is running or has exited. Rejects with `aborted` if it cannot be started or its pod is deleted. */
async function started(client: NodeClient, pod: Pod, name: string): Promise<{ pod: Pod; status: ContainerStatus }> {
  const stop = new AbortController();
  try {
    for await (const { type, object } of await client.podChanges(pod.metadata, stop.signal)) {
      if (object.metadata.uid !== pod.metadata.uid) continue;
      if (type === 'DELETED')
        throw new PodwrightError('aborted', `debug pod ${pod.metadata.name}: it was deleted meanwhile`);
      const status = object.status?.ephemeralContainerStatuses?.find((one) => one.name === name);
      if (status?.state.running ?? status?.state.terminated) return { pod: object, status: status! };
      const { reason = '', message = '' } = status?.state.waiting ?? {};
      if (FINAL_REASONS.has(reason))
        throw new PodwrightError('aborted', `debug pod ${pod.metadata.name}: ${reason}: ${message}`);
    }
  } finally {
    stop.abort();
  }
  throw new PodwrightError('unavailable', `debug pod ${pod.metadata.name}: the node has stopped`);
}

/** Waiting reasons (`state.waiting.reason`) for which the command gives up on the container. */
const FINAL_REASONS = new Set([
  'CreateContainerConfigError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
]);

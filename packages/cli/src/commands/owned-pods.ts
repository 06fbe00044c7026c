/** Finds pods by the object that owns or selects them: `deploy/web`, `svc/web`. */
import type { Pod } from '@podwright/kube-api';
import type { ApiObject, PodPurpose } from '@podwright/kube-verbs';
import { apiPort, knownKinds } from '../client/known-kinds.ts';
import { NodeClient } from '../client/node-client.ts';
import { ObjectClient } from '../client/object-client.ts';
import { kindOfWord, POD, parseObjects } from '../client/object-names.ts';
import { findPod } from './pod-arguments.ts';

/** Whether an argument is `TYPE/NAME` with a type other than pod. */
export function namesOwner(argument: string): boolean {
  const [type = '', name] = argument.split('/');
  return name !== undefined && kindOfWord(type) !== POD;
}

/** `timeoutMs`: how long to wait for a pod if the workload has none. */
export type PodChoice = { namespace: string; purpose: PodPurpose; timeoutMs?: number };

/** Defaults for `timeoutMs`, as in kubectl. */
const POD_TIMEOUT_MS: Record<PodPurpose, number> = { logs: 20_000, streams: 60_000 };

/** The pods that an argument refers to, the best choice first. `owner` is the workload or Service, unless the argument names a pod. */
export type FoundPods = { pods: [Pod, ...Pod[]]; owner?: ApiObject };

/** Returns the pod named by an argument, or the pods of the workload or Service that it names. */
export async function podsOfArgument(
  socketPath: string,
  argument: string,
  { namespace, purpose, timeoutMs = POD_TIMEOUT_MS[purpose] }: PodChoice,
): Promise<FoundPods> {
  const client = new NodeClient(socketPath);
  if (!namesOwner(argument)) return { pods: [await findPod(client, argument, namespace)] };
  const { named } = parseObjects([argument], { known: await knownKinds(socketPath, [argument]) });
  const { kind, name } = named[0]!;
  const owner = { ...(await new ObjectClient(socketPath).get(kind, name, namespace)), kind: kind.kind };
  const { podsOf } = await import('@podwright/kube-verbs');
  return {
    pods: (await podsOf(apiPort(client.http), owner as ApiObject, { purpose, timeoutMs })) as [Pod, ...Pod[]],
    owner: owner as ApiObject,
  };
}

import { didYouMean, isNotFound, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';

/** What kubectl reads for the container that commands take when none is named. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

const POD_TYPES = ['pod', 'pods', 'po'];

/** The name in `NAME` or `pod/NAME`. `invalid_argument` for another type. */
export function podName(argument: string): string {
  const slash = argument.indexOf('/');
  if (slash < 0) return argument;
  const [type, name] = [argument.slice(0, slash), argument.slice(slash + 1)];
  if (POD_TYPES.includes(type.toLowerCase()) && name !== '' && !name.includes('/')) return name;
  throw new PodwrightError('invalid_argument', `"${argument}" names no pod: NAME or pod/NAME is needed`);
}

/** The pod that an argument names. `not_found` says in which namespace one of this name is, or which name was probably meant. */
export async function findPod(client: NodeClient, argument: string, namespace: string): Promise<Pod> {
  const name = podName(argument);
  try {
    return await client.pod(namespace, name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new PodwrightError(
      'not_found',
      `there is no pod ${name} in namespace ${namespace}${await hint(client, name)}`,
    );
  }
}

async function hint(client: NodeClient, name: string): Promise<string> {
  const pods = await client.pods();
  const elsewhere = pods.find(({ metadata }) => metadata.name === name);
  if (elsewhere !== undefined)
    return `; ${elsewhere.metadata.namespace} has one: add -n ${elsewhere.metadata.namespace}`;
  return didYouMean(
    name,
    pods.map(({ metadata }) => metadata.name),
  );
}

/**
 * The container that a command is for: the one that is named, else the one that the pod's annotation names, else the first.
 * `note` tells which was taken of several. `not_found` if the pod has none of that name.
 */
export function chooseContainer(pod: Pod, wanted: string | undefined): { name: string; note?: string } {
  const { containers, initContainers = [] } = pod.spec;
  const all = [...containers.map(({ name }) => name), ...initContainers.map(({ name }) => name)];
  const listed = [...containers.map(({ name }) => name), ...initContainers.map(({ name }) => `${name} (init)`)].join(
    ', ',
  );
  if (wanted !== undefined) {
    if (all.includes(wanted)) return { name: wanted };
    const message = `pod ${pod.metadata.name} has no container ${wanted}; it has ${listed}`;
    throw new PodwrightError('not_found', message);
  }
  const annotated = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  if (annotated !== undefined && all.includes(annotated)) return { name: annotated };
  const name = containers[0]!.name;
  return all.length === 1 ? { name } : { name, note: `Defaulted container "${name}" out of: ${listed}` };
}

/**
 * Whether labels are what a selector asks for: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, separated by
 * commas. `invalid_argument` names what is none of these.
 */
export function parseSelector(selector: string): (labels: Record<string, string>) => boolean {
  const tests = selector.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim(), selector));
  return (labels) => tests.every((test) => test(labels));
}

const REQUIREMENT =
  /^(?<absent>!\s*)?(?<key>[\w./-]+)(?:\s*(?<operator>==?|!=)\s*(?<value>[\w.-]*)|\s+(?<set>in|notin)\s*\((?<values>[\w.,\s-]*)\))?$/;

function parseRequirement(text: string, selector: string): (labels: Record<string, string>) => boolean {
  const groups = REQUIREMENT.exec(text)?.groups;
  if (groups === undefined || (groups.absent && (groups.operator ?? groups.set) !== undefined)) {
    const where = text === selector ? '' : ` in "${selector}"`;
    const message = `"${text}"${where} selects nothing: KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY is needed`;
    throw new PodwrightError('invalid_argument', message);
  }
  const { absent, key = '', operator, value, set, values = '' } = groups;
  if (operator === undefined && set === undefined)
    return (labels) => Object.hasOwn(labels, key) === (absent === undefined);
  const wanted = operator === undefined ? values.split(',').map((one) => one.trim()) : [value ?? ''];
  const negative = operator === '!=' || set === 'notin';
  return (labels) => (Object.hasOwn(labels, key) && wanted.includes(labels[key]!)) !== negative;
}

import { errorCode, PodwrightError } from '@podwright/base';
import { type DecodedManifest, type Finding, holdsWithApi, type Pod } from '@podwright/kube-api';
import { allFindings, type thisHost } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { isNoNode } from '../client/unix-http.ts';
import { textOf } from './read-manifests.ts';

/** An image used in manifests. `onNode` is unset if no node responded. */
export type NamedImage = { name: string; onNode?: boolean };

/** Problems that the pods would have. `unseen` lists the checks that could not be performed. */
export type Foresight = { findings: Finding[]; images: NamedImage[]; unseen: string[] };

type Host = Awaited<ReturnType<typeof thisHost>>;

/**
 * Finds problems that the pods and workloads in manifests would have, using a dry run on the node or, if the node does not respond, checks
 * of this host.
 */
export async function foresee(
  decoded: DecodedManifest,
  client: Pick<NodeClient, 'apply'>,
  readHost: () => Promise<Host>,
): Promise<Foresight> {
  const objects = [...decoded.objects.map(({ object }) => object), ...decoded.templates.map(({ pod }) => pod)];
  const pods = objects.filter((object) => object.kind === 'Pod');
  const images = [
    ...new Set(
      pods.flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]).map(({ image }) => image),
    ),
  ];
  if (objects.length === 0) return { findings: [], images: [], unseen: [] };
  try {
    const { findings } = await client.apply(textOf(objects), { dryRun: true });
    const missing = new Set(findings.flatMap((finding) => imageOf(finding, pods)));
    return {
      findings: findings.filter((one) => !isToPull(one) && !isRefused(one, decoded)),
      images: images.map((name) => ({ name, onNode: !missing.has(name) })),
      unseen: [],
    };
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    const { host, unseen } = await readHost();
    const findings = await allFindings(objects, { ...host, refused: decoded.refused });
    const held = decoded.needsApi ? findings.filter(holdsWithApi) : findings;
    return { findings: held, images: images.map((name) => ({ name })), unseen: [...unseenOf(error), ...unseen] };
  }
}

/** Returns why the manifests were not checked on the node. Empty if no node is running. */
function unseenOf(error: PodwrightError): string[] {
  if (isNoNode(error)) return [];
  if (errorCode(error) === 'permission_denied')
    return ['the node answers only root: existing pods, ConfigMaps and images are not checked'];
  return [`existing objects of the node are not checked: ${error.message}`];
}

function imageOf({ namespace, name, path }: Finding, pods: Pod[]): string[] {
  const [, field, index, last] = path;
  const pod = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (last !== 'image' || pod === undefined) return [];
  const container = pod.spec[field as 'containers' | 'initContainers']?.[index as number];
  return container === undefined ? [] : [container.image];
}

/** Whether a finding only says that an image will be pulled; the caller lists such images separately. */
const isToPull = ({ severity, path }: Finding) => severity === 'note' && path.at(-1) === 'image';

/** Whether a finding reports an object as missing although the manifests contain it, but with errors. */
const isRefused = ({ message }: Finding, { refused }: DecodedManifest) =>
  refused.some((label) => message.startsWith(`${label} is not in these files`));

import { errorCode, PodwrightError } from '@podwright/base';
import type { DecodedManifest, Finding, Pod } from '@podwright/kube-api';
import { allFindings, type thisHost } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { isNoNode } from '../client/unix-http.ts';
import { textOf } from './read-manifests.ts';

/** An image that manifests name; whether the node has it is known where one answers. */
export type NamedImage = { name: string; onNode?: boolean };

/** What pods would meet; `unseen` says what was not looked at. */
export type Foresight = { findings: Finding[]; images: NamedImage[]; unseen: string[] };

type Host = Awaited<ReturnType<typeof thisHost>>;

/** What the pods of manifests and of their workloads would meet: the node says that if it answers, and otherwise this host shows it. */
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
    return { findings, images: images.map((name) => ({ name })), unseen: [...unseenOf(error), ...unseen] };
  }
}

/** Why the node did not say it; where none runs there is nothing to say. */
function unseenOf(error: PodwrightError): string[] {
  if (isNoNode(error)) return [];
  if (errorCode(error) === 'permission_denied')
    return ['the node answers only root: what it has already, such as pods, ConfigMaps and images, is not looked at'];
  return [`what the node has already is not looked at: ${error.message}`];
}

/** The image that a finding is about, if it is about one. */
function imageOf({ namespace, name, path }: Finding, pods: Pod[]): string[] {
  const [, field, index, last] = path;
  const pod = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (last !== 'image' || pod === undefined) return [];
  const container = pod.spec[field as 'containers' | 'initContainers']?.[index as number];
  return container === undefined ? [] : [container.image];
}

/** Images that will be pulled are listed elsewhere. */
const isToPull = ({ severity, path }: Finding) => severity === 'note' && path.at(-1) === 'image';

/** An object that has errors of its own is missing on the node alone. */
const isRefused = ({ message }: Finding, { refused }: DecodedManifest) =>
  refused.some((label) => message.startsWith(`${label} is not in these files`));

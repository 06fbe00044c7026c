import { PodwrightError } from '@podwright/base';
import type { Container, DecodedManifest, Finding, Pod } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { textOf } from './read-manifests.ts';

/** An image that manifests name; whether the node has it is known where one answers. */
export type NamedImage = { name: string; onNode?: boolean };

/** The images of the pods in manifests, each once, in their order. */
export async function namedImages(decoded: DecodedManifest, client: Pick<NodeClient, 'apply'>): Promise<NamedImage[]> {
  const pods = decoded.objects.flatMap(({ object }) => (object.kind === 'Pod' ? [object] : []));
  const names = [...new Set(pods.flatMap(containersOf).map(({ image }) => image))];
  if (names.length === 0) return [];
  const missing = await missingImages(decoded, pods, client);
  return names.map((name) => (missing === undefined ? { name } : { name, onNode: !missing.has(name) }));
}

/** Where no node answers, or it refuses the manifests or us, nothing is known. */
async function missingImages(
  decoded: DecodedManifest,
  pods: Pod[],
  client: Pick<NodeClient, 'apply'>,
): Promise<Set<string> | undefined> {
  try {
    const { findings } = await client.apply(textOf(decoded), { dryRun: true });
    return new Set(findings.flatMap((finding) => imageOf(finding, pods)));
  } catch (error) {
    if (error instanceof PodwrightError) return undefined;
    throw error;
  }
}

/** The image that a finding is about, if it is about one. */
function imageOf({ namespace, name, path }: Finding, pods: Pod[]): string[] {
  const [, field, index, last] = path;
  const pod = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (last !== 'image' || pod === undefined) return [];
  const container = pod.spec[field as 'containers' | 'initContainers']?.[index as number];
  return container === undefined ? [] : [container.image];
}

const containersOf = ({ spec }: Pod): Container[] => [...(spec.initContainers ?? []), ...spec.containers];

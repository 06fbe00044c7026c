import { errorCode } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { type Pod, parseImageReference, withDefaultTag } from '@podwright/kube-api';

/** Returns the image names of all of a pod's containers and image volumes, as the kubelet requests them from the runtime. */
export function podImages({ spec }: Pod): string[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  const volumes = (spec.volumes ?? []).flatMap(({ image }) =>
    image?.reference === undefined ? [] : [image.reference],
  );
  return [...containers.map(({ image }) => image), ...volumes].flatMap((name) => {
    const reference = parseImageReference(name);
    return reference === undefined ? [] : [withDefaultTag(name, reference)]; // no container is created from an invalid name
  });
}

/** Returns the IDs of the images on the node that these pods need. The container runtime resolves the image names. */
export async function imagesOfPods(pods: Pod[], { image }: Pick<CriClient, 'image'>): Promise<string[]> {
  const names = new Set(pods.flatMap(podImages));
  const found = await Promise.all(
    [...names].map(async (name) => {
      try {
        return (await image.imageStatus({ image: { image: name } })).image;
      } catch (error) {
        // a name that the container runtime rejects, such as an ambiguous ID prefix, must not make the whole collection fail
        if (['not_found', 'invalid_argument'].includes(errorCode(error))) return undefined;
        throw error;
      }
    }),
  );
  return found.flatMap((one) => (one === undefined ? [] : [one.id]));
}

import { ignoreFailure } from '@podwright/base';
import type { PodSandboxConfig } from '@podwright/cri';
import type { Container, Pod } from '@podwright/kube-api';
import type { MountedImage } from '../container/prepared-container.ts';
import type { ImageOutcome } from '../images/image-manager.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';

type VolumeImage = Omit<MountedImage, 'image'> & { outcome: Promise<ImageOutcome> };

/** Images of a pod's image volumes, by volume name. Each promise resolves once the image has been pulled or cannot be pulled for now. */
export type VolumeImages = ReadonlyMap<string, VolumeImage>;

type FetchRequest = { pod: Pod; containers: Container[]; runtimeHandler: string; sandboxConfig: PodSandboxConfig };

/** Starts pulling the images of image volumes that the containers mount. If a pull fails, the step that starts the container reports it. */
export function fetchVolumeImages(
  deps: Pick<KuberuntimeDependencies, 'images'>,
  { pod, containers, runtimeHandler, sandboxConfig }: FetchRequest,
  signal: AbortSignal,
): VolumeImages {
  const mounted = new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
  const images = (pod.spec.volumes ?? []).flatMap(({ name, image }) =>
    image === undefined || !mounted.has(name) ? [] : [{ name, image }],
  );
  return new Map(
    images.map(({ name, image: { reference, pullPolicy } }) => {
      const container = { image: reference, imagePullPolicy: pullPolicy };
      const outcome = deps.images.ensureImage({ pod, container, runtimeHandler, sandboxConfig }, signal);
      ignoreFailure(outcome, 'the start of the container awaits it');
      const annotations = pod.metadata.annotations ?? {};
      return [name, { userSpecifiedImage: reference, runtimeHandler, annotations, outcome }];
    }),
  );
}

export type MountedImages = { images: ReadonlyMap<string, MountedImage> } | Exclude<ImageOutcome, { image: unknown }>;

/** Returns the images that a container mounts as volumes, or the waiting reason if one is missing. */
export async function mountedImages(container: Container, volumes: VolumeImages): Promise<MountedImages> {
  const images = new Map<string, MountedImage>();
  let missing: Exclude<ImageOutcome, { image: unknown }> | undefined;
  for (const { name } of container.volumeMounts ?? []) {
    const volume = volumes.get(name);
    if (volume === undefined) continue;
    const { outcome: fetching, ...rest } = volume;
    const outcome = await fetching;
    if ('waiting' in outcome) missing = outcome;
    else images.set(name, { ...rest, image: outcome.image.id });
  }
  return missing ?? { images };
}

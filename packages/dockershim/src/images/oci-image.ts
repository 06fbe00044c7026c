import type { ImageInspection, ImageStep } from '../engine/engine-images.ts';

/** Config properties defined by the OCI specification. Docker has more. */
const CONFIG = [
  'User',
  'ExposedPorts',
  'Env',
  'Entrypoint',
  'Cmd',
  'Volumes',
  'WorkingDir',
  'Labels',
  'StopSignal',
] as const;

/** Reconstructs an image's configuration (OCI image specification, "Image Configuration") from the Engine's inspection and history. */
export function ociImage(image: ImageInspection, history: ImageStep[]): object {
  const { Created, Author, Architecture, Os, Config, RootFS } = image;
  const config = CONFIG.map((name): [string, unknown] => [name, Config?.[name]]);
  return {
    created: Created,
    ...(Author && { author: Author }),
    architecture: Architecture ?? '',
    os: Os ?? '',
    config: Object.fromEntries(config.filter(([, value]) => isSaid(value))),
    rootfs: { type: 'layers', diff_ids: RootFS?.Layers ?? [] },
    history: history.toReversed().map(({ Created: seconds, CreatedBy, Comment, Size }) => ({
      created: new Date(seconds * 1000).toISOString(),
      ...(CreatedBy !== '' && { created_by: CreatedBy }),
      ...(Comment !== '' && { comment: Comment }),
      ...(Size === 0 && { empty_layer: true }),
    })),
  };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

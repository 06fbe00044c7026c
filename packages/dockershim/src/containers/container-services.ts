import type { EngineInfo, EngineVersion } from '../engine/engine-types.ts';
import type { DockershimServices } from '../services.ts';

/** What the Engine says about itself, from memory where that will do: the question costs it more than a container's creation. */
export type EngineFactsSource = {
  info(signal?: AbortSignal): Promise<EngineInfo>;
  version(signal?: AbortSignal): Promise<EngineVersion>;
};

/** What the verbs of containers need. */
export type ContainerServices = Pick<DockershimServices, 'engine' | 'logger' | 'failpoint'> & {
  facts: EngineFactsSource;
  /** The directory with the files of a sandbox whose network the Engine leaves alone. */
  filesOf: (sandboxId: string) => string;
};

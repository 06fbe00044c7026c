import type { EngineInfo, EngineVersion } from '../engine/engine-types.ts';
import type { DockershimServices } from '../services.ts';

/** Provides the Engine's version and info, cached if possible: `GET /info` is more expensive for the Engine than creating a container. */
export type EngineFactsSource = {
  info(signal?: AbortSignal): Promise<EngineInfo>;
  version(signal?: AbortSignal): Promise<EngineVersion>;
};

/** Dependencies of the container-related CRI calls. */
export type ContainerServices = Pick<DockershimServices, 'engine' | 'logger' | 'failpoint'> & {
  facts: EngineFactsSource;
  /** Returns the directory with the `hostname`, `hosts` and `resolv.conf` of a sandbox whose network is not set up by the Engine. */
  filesOf: (sandboxId: string) => string;
};

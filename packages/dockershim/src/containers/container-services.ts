import type { EngineInfo, EngineVersion } from '../engine/engine-types.ts';
import type { DockershimServices } from '../services.ts';

/** The Engine's version and info, cached if possible, because `GET /info` costs the Engine more than creating a container. */
export type EngineFactsSource = {
  info(signal?: AbortSignal): Promise<EngineInfo>;
  version(signal?: AbortSignal): Promise<EngineVersion>;
};

/** Dependencies of the CRI calls for containers. */
export type ContainerServices = Pick<DockershimServices, 'engine' | 'logger' | 'failpoint'> & {
  facts: EngineFactsSource;
  /** Returns the directory of `hostname`, `hosts` and `resolv.conf` of a sandbox whose network the Engine does not set up. */
  filesOf: (sandboxId: string) => string;
};

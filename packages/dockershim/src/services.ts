import type { Failpoint, Logger } from '@podwright/base';
import type { Engine } from './engine/engine.ts';
import type { NetworkPlugin } from './network/network-plugin.ts';
import type { DockershimOptions } from './options.ts';

/** Dependencies of all CRI calls. Each call's implementation uses a subset of them. */
export type DockershimServices = {
  engine: Engine;
  network: NetworkPlugin;
  options: DockershimOptions;
  logger: Logger;
  failpoint: Failpoint;
};

import { PodwrightError } from '@podwright/base';
import type { Snapshotter } from '@podwright/images';
import type { PluginContext } from './plugin.ts';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** Order of preference for the snapshotter `auto`. */
const PREFERENCE = ['overlayfs', 'native'];

/** Returns the plugin requirement for the configured snapshotter: that snapshotter or, for `auto`, all snapshotters. */
export function snapshotterRequirement(kind: string): 'snapshotter' | `snapshotter/${string}` {
  return kind === 'auto' ? 'snapshotter' : `snapshotter/${kind}`;
}

/** Returns the snapshotter to use. Throws `failed_precondition` if none works on this host. */
export function chooseSnapshotter(
  kind: string,
  plugins: Pick<PluginContext<RuntimePluginTypes>, 'get' | 'all'>,
): Snapshotter {
  if (kind !== 'auto') return plugins.get('snapshotter', kind);
  const working = plugins.all('snapshotter');
  const first = PREFERENCE.find((id) => working.has(id));
  if (first !== undefined) return working.get(first)!;
  throw new PodwrightError(
    'failed_precondition',
    `choose a snapshotter: neither ${PREFERENCE.join(' nor ')} works here`,
  );
}

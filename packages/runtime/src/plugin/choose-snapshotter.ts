import { PodwrightError } from '@podwright/base';
import type { Snapshotter } from '@podwright/images';
import type { PluginContext } from './plugin.ts';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** What `auto` takes, the best one first. */
const PREFERENCE = ['overlayfs', 'native'];

/** What a part that works with the chosen snapshotter requires: that one, or with `auto` all that there are. */
export function snapshotterRequirement(kind: string): 'snapshotter' | `snapshotter/${string}` {
  return kind === 'auto' ? 'snapshotter' : `snapshotter/${kind}`;
}

/** The snapshotter to use among those that work here; `failed_precondition` if there is none. */
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

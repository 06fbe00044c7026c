import { PodwrightError } from '@podwright/base';
import type { ObjectSelection } from '../client/object-names.ts';
import type { ManifestOptions } from '../manifests/read-manifests.ts';

export type DeleteOptions = ManifestOptions & {
  allNamespaces?: boolean;
  selector?: string;
  all?: boolean;
  force?: boolean;
  now?: boolean;
  gracePeriod?: number;
  ignoreNotFound?: boolean;
  volumes?: boolean;
  cascade?: 'background' | 'foreground' | 'orphan';
  timeout?: number;
  wait: boolean;
};

/** Throws `invalid_argument` if names are combined with a selector. */
export function refuseMixed(named: ObjectSelection['named'], { selector, all }: DeleteOptions): void {
  if (named.length > 0 && (selector !== undefined || all))
    throw new PodwrightError('invalid_argument', 'delete: names cannot be combined with -l or --all');
}

/** Returns the grace period in seconds, or `undefined` to use each pod's own. Throws `invalid_argument` if options conflict. */
export function graceOf(options: Pick<DeleteOptions, 'gracePeriod' | 'force' | 'now'>): number | undefined {
  const { force, now } = options;
  const gracePeriod = (options.gracePeriod ?? -1) < 0 ? undefined : options.gracePeriod; // as in kubectl
  const contradiction =
    now && (force || gracePeriod !== undefined)
      ? `--now or ${force ? '--force' : '--grace-period'}`
      : force && gracePeriod
        ? '--force or --grace-period'
        : undefined;
  if (contradiction !== undefined)
    throw new PodwrightError('invalid_argument', `delete: either ${contradiction}, not both`);
  if (force) return 0;
  // as in kubectl, only --force kills immediately: --now and --grace-period=0 become a grace period of 1 s
  return now || gracePeriod === 0 ? 1 : gracePeriod;
}

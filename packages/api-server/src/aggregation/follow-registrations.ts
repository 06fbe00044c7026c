/** Follows the stored APIServices. The code that checks extension API servers is loaded once the first one is registered. */
import type { StoreEvent } from '@podwright/api-machinery';
import { errorMessage } from '@podwright/base';
import { followResource } from '../controllers/follow-resource.ts';
import type { CheckParts } from './check-extensions.ts';
import { API_SERVICES } from './registration.ts';

/** Follows the APIServices until the signal aborts. */
export async function followRegistrations(parts: CheckParts): Promise<void> {
  const { registrations, signal, logger } = parts;
  let checks: Promise<void> | undefined;
  const reload = () => {
    registrations.reload();
    if (registrations.all.length === 0 || checks !== undefined) return;
    checks = import('./check-extensions.ts')
      .then(({ checkExtensions }) => checkExtensions(parts))
      .catch((error: unknown) => logger.warn({ error: errorMessage(error) }, 'check extension API servers failed'));
  };
  const changed = ({ object }: StoreEvent) => {
    if (registrations.isConcerned(object)) reload();
  };
  await followResource(API_SERVICES, { listed: reload, changed }, { ...parts, signal });
  await checks;
}

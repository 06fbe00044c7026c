import type { JsonObject } from '../values.ts';

const LOCALHOST = 'localhost/';

/** Converts the value of a deprecated AppArmor pod annotation to a profile (ApparmorFieldForAnnotation). */
export function appArmorProfileOf(annotation: string): JsonObject | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const localhostProfile = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : '';
  return localhostProfile === '' ? undefined : { type: 'Localhost', localhostProfile };
}

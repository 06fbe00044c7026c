import { PodwrightError } from '@podwright/base';

/** Builds the error for a CRI feature that Docker lacks. `what` is a noun phrase, such as `an image as a volume`. */
export function unsupported(what: string): PodwrightError {
  return new PodwrightError('unimplemented', `Docker cannot give a container ${what}`);
}

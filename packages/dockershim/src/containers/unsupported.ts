import { PodwrightError } from '@podwright/base';

/** What the CRI can ask for and the Engine has no words for. `what` is a thing, such as `an image as a volume`. */
export function unsupported(what: string): PodwrightError {
  return new PodwrightError('unimplemented', `Docker cannot give a container ${what}`);
}

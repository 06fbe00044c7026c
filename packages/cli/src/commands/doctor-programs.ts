/** Findings about host programs that pods need, with the packages that `doctor --fix` would install. */
import type { ProgramFinding } from '@podwright/host';
import type { Finding } from './doctor-places.ts';
import { installHint } from './install-hint.ts';

export function conmonFinding(conmon: ProgramFinding | undefined): Finding {
  const what = 'conmon';
  return conmon === undefined
    ? { what, level: 'missing', message: 'not found', fix: installHint(what), lacks: [what] }
    : { what, level: 'ok', message: `${conmon.version} (${conmon.path})` };
}

/** Reports the container init program, catatonit. A missing one is only a note, because few pods need it. */
export function initFinding(path: string | undefined): Finding {
  const what = 'init';
  if (path !== undefined) return { what, level: 'ok', message: path };
  return {
    what,
    level: 'note',
    message: 'no catatonit: pods with shareProcessNamespace do not start',
    fix: installHint('catatonit'),
    lacks: ['catatonit'],
  };
}

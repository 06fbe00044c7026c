import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { counted, errorMessage, isErrno } from '@podwright/base';
import type { NodeConfig } from '../settings/node-config.ts';

/** One line of the report: `fix` says what to do about what is not well. */
export type Finding = { what: string; level: 'ok' | 'note' | 'missing'; message: string; fix?: string };

/** The files and directories that a person may write for a node, and what is in them. */
export function placeFindings(config: NodeConfig): Finding[] {
  const seccomp = join(config.root, 'kubelet', 'seccomp');
  return [
    {
      what: 'configuration',
      level: 'ok',
      message: existsSync(config.file) ? config.file : `the defaults: there is no ${config.file}`,
    },
    directoryFinding('manifests', config.manifests, (names) => counted(manifestsOf(names).length, 'file')),
    directoryFinding(
      'registries',
      config.runtime.registry_config_dir,
      registriesIn(config.runtime.registry_config_dir),
    ),
    directoryFinding(
      'seccomp files',
      seccomp,
      (names) => `${counted(names.length, 'profile')} for seccompProfile type Localhost`,
    ),
  ];
}

const manifestsOf = (names: string[]) => names.filter((name) => /^[^.].*\.(ya?ml|json)$/.test(name));

/** Which registries have settings, and which of them have mirrors. */
function registriesIn(directory: string): (names: string[]) => string {
  return (names) => {
    const own = names.map((name) => (existsSync(join(directory, name, 'hosts.toml')) ? `${name} (hosts.toml)` : name));
    return own.length === 0 ? 'no registry has settings of its own' : own.join(', ');
  };
}

/** What a directory holds; that it is not there is fine. */
function directoryFinding(what: string, directory: string, tell: (names: string[]) => string): Finding {
  try {
    if (!statSync(directory).isDirectory())
      return {
        what,
        level: 'note',
        message: `${directory} is no directory`,
        fix: `make it one: move ${directory} away, then mkdir ${directory}`,
      };
    return { what, level: 'ok', message: `${directory}: ${tell(readdirSync(directory).sort())}` };
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { what, level: 'ok', message: `${directory} is not there: none` };
    return {
      what,
      level: 'note',
      message: isErrno(error, 'EACCES') ? `${directory} is for root only` : errorMessage(error),
    };
  }
}
